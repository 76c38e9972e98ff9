"""The format of a text is found from the text."""

import pytest
import stiction as st

TEXTS = {
    "mjcf": "<?xml version='1.0'?>\n<!-- <robot> is not meant -->\n<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
    "urdf": "<robot name='r'><link name='base'/></robot>",
}


def test_the_format_is_that_of_the_first_element_or_a_scene() -> None:
    for name in ("mjcf", "urdf"):
        assert st.loads(TEXTS[name]).format == name == st.loads(TEXTS[name], format=name).format  # type: ignore[arg-type]


def test_toml_is_another_name_of_native() -> None:
    text = "[step]\ntime-step = 0.01\n"
    assert {st.loads(text, format=given).format for given in (None, "toml", "native")} == {"native"}


def test_other_texts_are_refused_with_what_was_found() -> None:
    with pytest.raises(st.ModelError, match="the first element is <html>; expected <mujoco>"):
        st.loads("<!DOCTYPE html>\n<html></html>")
    with pytest.raises(st.ModelError, match='format "usd"; expected one of: mjcf, native, urdf'):
        st.loads("", format="usd")  # type: ignore[arg-type]
    with pytest.raises(st.ModelError, match="expected <mujoco>"):
        st.loads("<!-- never closed")
