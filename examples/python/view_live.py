"""A live view of a robot: sliders for its controls, pause, single step, pulling at bodies.

Needs `pip install 'stiction[viz]'`; open the printed address. An optional argument is a model file.
"""

import sys
from pathlib import Path

import stiction as st
from stiction.viewer import Viewer

path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "models" / "arm.xml"
sim = st.Simulation(st.load(path))

viewer = Viewer(sim)
viewer.show(points=True, forces=True)
viewer.run()
