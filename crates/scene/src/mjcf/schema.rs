//! Schema of MJCF: the children and the attributes that each element may have.
//!
//! [`check`] refuses unknown words and suggests the nearest known one; words of older files
//! are known too. Known but unsupported ones are listed by [`super::unread`]. Elements that are
//! visual only, or that do not affect motion, are not checked.

use crate::error::SceneError;
use crate::xml::Element;

/// Treatment of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementSupport {
    /// It is read.
    Read,
    /// It is ignored; no motion depends on it.
    Ignored,
    /// It is ignored, although motion depends on it.
    Unsupported,
}

/// Schema of one element. Words are separated by spaces.
#[derive(Debug)]
pub(super) struct ElementSchema {
    /// Its tag, after that of its parent where the tag alone says too little.
    pub tag: &'static str,
    pub support: ElementSupport,
    /// Attributes that are read, or on which no motion depends.
    known: &'static str,
    /// Unsupported attributes that change the motion.
    unsupported: &'static str,
    /// Tags of its children.
    children: &'static str,
}

const fn read(tag: &'static str, known: &'static str, unsupported: &'static str) -> ElementSchema {
    ElementSchema { tag, support: ElementSupport::Read, known, unsupported, children: "" }
}

const fn with_children(
    tag: &'static str,
    known: &'static str,
    children: &'static str,
) -> ElementSchema {
    ElementSchema { tag, support: ElementSupport::Read, known, unsupported: "", children }
}

const fn ignored(tag: &'static str) -> ElementSchema {
    ElementSchema {
        tag,
        support: ElementSupport::Ignored,
        known: "",
        unsupported: "",
        children: "",
    }
}

const fn unsupported(tag: &'static str) -> ElementSchema {
    ElementSchema {
        tag,
        support: ElementSupport::Unsupported,
        known: "",
        unsupported: "",
        children: "",
    }
}

const BODY: &str = "body frame replicate attach inertial joint freejoint geom site camera light \
    plugin composite flexcomp";

const POSE: &str = "pos quat axisangle xyaxes zaxis euler";

const TENDON: &str = "name class group user limited range margin solreflimit solimplimit \
    solreffriction solimpfriction frictionloss springlength stiffness damping armature \
    actuatorfrclimited actuatorfrcrange width material rgba";

const EQUALITY: &str = "name class active solref solimp";

/// Attributes of all actuators but adhesion.
const ACTUATOR: &str = "name class group user joint jointinparent tendon site refsite cranksite \
    slidersite cranklength gear ctrllimited ctrlrange forcelimited forcerange lengthrange armature \
    damping delay interp nsample";

const SENSOR: &str = "name user noise cutoff delay interp interval nsample";

/// Every element, in the order of MuJoCo's reference.
static ELEMENTS: &[ElementSchema] = &[
    with_children(
        "mujoco",
        "model",
        "compiler option size statistic visual default extension asset worldbody deformable contact \
         tendon equality actuator sensor custom keyframe",
    ),
    with_children(
        "compiler",
        "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict \
         convexhull coordinate discardvisual eulerseq exactmeshinertia fitaabb fusestatic \
         inertiafromgeom inertiagrouprange meshdir passthrough savecanonical savecompiled \
         saveinertial settotalmass strippath texturedir usethread",
        "lengthrange",
    ),
    ignored("lengthrange"),
    with_children(
        "option",
        "actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone density gravity \
         impratio integrator iterations jacobian ls_iterations ls_tolerance magnetic \
         mpr_iterations mpr_tolerance noslip_iterations noslip_tolerance o_friction o_margin \
         o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance \
         viscosity wind",
        "flag",
    ),
    read(
        "flag",
        "actuation autoreset clampctrl constraint contact damper diagexact energy equality \
         eulerdamp filterparent frictionloss fwdinv gravity invdiscrete ipc island limit midphase \
         mpr multiccd nativeccd override passive refsafe sensor sensornoise sleep speculative \
         spring warmstart",
        "",
    ),
    ignored("size"),
    ignored("statistic"),
    ignored("visual"),
    ignored("extension"),
    ignored("custom"),
    with_children(
        "default",
        "class",
        "default mesh texture material joint geom site camera light pair equality tendon general \
         motor position velocity intvelocity orientation pid damper cylinder muscle adhesion \
         dcmotor plugin",
    ),
    read("default/tendon", TENDON, "springyield"),
    read("default/equality", EQUALITY, ""),
    with_children("asset", "", "mesh hfield skin texture material model"),
    with_children(
        "mesh",
        "builtin class content_type face file inertia material maxhullvert name normal params \
         refpos refquat scale smoothnormal texcoord vertex octree_maxdepth",
        "plugin",
    ),
    read("hfield", "content_type elevation file name ncol nrow size", ""),
    ignored("skin"),
    ignored("texture"),
    ignored("material"),
    read("model", "content_type file name", ""),
    with_children("worldbody", "", BODY),
    with_children("body", "name childclass gravcomp mocap simple fuse sleep user POSE", BODY),
    with_children("frame", "name childclass POSE", BODY),
    with_children("replicate", "count offset sep childclass POSE", BODY),
    read("attach", "body frame model prefix", ""),
    read("inertial", "mass diaginertia fullinertia POSE", ""),
    read(
        "joint",
        "actuatorfrclimited actuatorfrcrange actuatorgravcomp armature axis class damping \
         frictionloss group limited margin name pos range ref solimpfriction solimplimit \
         solreffriction solreflimit springdamper springref stiffness type user",
        "springyield",
    ),
    read("freejoint", "align group name", ""),
    ElementSchema {
        tag: "geom",
        support: ElementSupport::Read,
        known: "castshadow class conaffinity condim contype density fitscale fluidcoef fluidshape \
            friction fromto gap group hfield margin mass material mesh name priority rgba \
            shellinertia size solimp solmix solref type user POSE",
        unsupported: "adhesion surfacevel",
        children: "plugin",
    },
    read("site", "class fromto group material mesh name rgba size type user POSE", ""),
    read(
        "camera",
        "class focal focalpixel fovy ipd mode name output principal principalpixel projection \
         orthographic resolution sensorsize target user POSE",
        "",
    ),
    ignored("light"),
    unsupported("plugin"),
    unsupported("composite"),
    unsupported("flexcomp"),
    with_children("deformable", "", "flex skin"),
    unsupported("flex"),
    with_children("contact", "", "pair exclude"),
    read(
        "pair",
        "class condim friction gap geom1 geom2 margin name solimp solref solreffriction",
        "adhesion",
    ),
    read("exclude", "body1 body2 name", ""),
    with_children("tendon", "", "spatial fixed"),
    ElementSchema {
        tag: "spatial",
        support: ElementSupport::Read,
        known: TENDON,
        unsupported: "springyield",
        children: "site geom pulley",
    },
    read("spatial/site", "site", ""),
    read("spatial/geom", "geom sidesite", ""),
    read("pulley", "divisor", ""),
    ElementSchema {
        tag: "fixed",
        support: ElementSupport::Read,
        known: TENDON,
        unsupported: "springyield",
        children: "joint",
    },
    read("fixed/joint", "coef joint", ""),
    with_children("equality", "", "connect weld joint tendon flex flexvert flexstrain distance"),
    read("connect", "EQUALITY anchor body1 body2 site1 site2", ""),
    read("weld", "EQUALITY anchor body1 body2 relpose site1 site2 torquescale", ""),
    read("equality/joint", "EQUALITY joint1 joint2 polycoef", ""),
    read("equality/tendon", "EQUALITY tendon1 tendon2 polycoef", ""),
    unsupported("flexvert"),
    unsupported("flexstrain"),
    unsupported("equality/distance"),
    with_children(
        "actuator",
        "",
        "general motor position velocity intvelocity orientation pid damper cylinder muscle \
         adhesion dcmotor plugin",
    ),
    read(
        "general",
        "ACTUATOR body actdim actearly actlimited actrange biasprm biastype dynprm dyntype gainprm \
         gaintype inheritrange",
        "ffrange input velrange",
    ),
    read("motor", "ACTUATOR", ""),
    read("position", "ACTUATOR dampratio inheritrange kp kv timeconst", ""),
    read("velocity", "ACTUATOR kv", ""),
    read("intvelocity", "ACTUATOR actlimited actrange dampratio inheritrange kp kv", ""),
    read("orientation", "ACTUATOR dampratio input kp kv", ""),
    read(
        "pid",
        "ACTUATOR dampratio ffrange imax inheritrange input ki kp kv posrange slewmax velrange",
        "",
    ),
    read("damper", "ACTUATOR kv", ""),
    read("cylinder", "ACTUATOR area bias diameter timeconst", ""),
    read("muscle", "ACTUATOR force fpmax fvmax lmax lmin range scale tausmooth timeconst vmax", ""),
    read("adhesion", "ACTUATOR body gain", ""),
    read(
        "dcmotor",
        "ACTUATOR cogging controller inductance input lugre motorconst nominal resistance \
         saturation thermal",
        "",
    ),
    with_children(
        "actuator/plugin",
        "ACTUATOR actdim actearly actlimited actrange dynprm dyntype instance plugin",
        "config",
    ),
    ignored("config"),
    with_children(
        "sensor",
        "",
        "touch accelerometer velocimeter gyro force torque magnetometer camprojection rangefinder \
         jointpos jointvel tendonpos tendonvel actuatorpos actuatorvel actuatorfrc \
         jointactuatorfrc tendonactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel \
         jointlimitfrc tendonlimitpos tendonlimitvel tendonlimitfrc framepos framequat framexaxis \
         frameyaxis framezaxis framelinvel frameangvel framelinacc frameangacc subtreecom \
         subtreelinvel subtreeangmom insidesite distance normal fromto contact e_potential \
         e_kinetic clock tactile user plugin",
    ),
    read("touch", "SENSOR site", ""),
    read("accelerometer", "SENSOR site", ""),
    read("velocimeter", "SENSOR site", ""),
    read("gyro", "SENSOR site", ""),
    read("force", "SENSOR site", ""),
    read("torque", "SENSOR site", ""),
    read("magnetometer", "SENSOR site", ""),
    ignored("camprojection"),
    ignored("rangefinder"),
    read("jointpos", "SENSOR joint", ""),
    read("jointvel", "SENSOR joint", ""),
    read("tendonpos", "SENSOR tendon", ""),
    read("tendonvel", "SENSOR tendon", ""),
    read("actuatorpos", "SENSOR actuator", ""),
    read("actuatorvel", "SENSOR actuator", ""),
    read("actuatorfrc", "SENSOR actuator", ""),
    read("jointactuatorfrc", "SENSOR joint", ""),
    ignored("tendonactuatorfrc"),
    read("ballquat", "SENSOR joint", ""),
    read("ballangvel", "SENSOR joint", ""),
    ignored("jointlimitpos"),
    ignored("jointlimitvel"),
    ignored("jointlimitfrc"),
    ignored("tendonlimitpos"),
    ignored("tendonlimitvel"),
    ignored("tendonlimitfrc"),
    read("framepos", "SENSOR objname objtype refname reftype", ""),
    read("framequat", "SENSOR objname objtype refname reftype", ""),
    read("framexaxis", "SENSOR objname objtype refname reftype", ""),
    read("frameyaxis", "SENSOR objname objtype refname reftype", ""),
    read("framezaxis", "SENSOR objname objtype refname reftype", ""),
    read("framelinvel", "SENSOR objname objtype refname reftype", ""),
    read("frameangvel", "SENSOR objname objtype refname reftype", ""),
    read("framelinacc", "SENSOR objname objtype", ""),
    read("frameangacc", "SENSOR objname objtype", ""),
    read("subtreecom", "SENSOR body", ""),
    ignored("subtreelinvel"),
    ignored("subtreeangmom"),
    ignored("insidesite"),
    ignored("distance"),
    ignored("normal"),
    ignored("fromto"),
    ignored("sensor/contact"),
    ignored("e_potential"),
    ignored("e_kinetic"),
    ignored("clock"),
    ignored("tactile"),
    ignored("user"),
    ignored("sensor/plugin"),
    with_children("keyframe", "", "key"),
    read("key", "act ctrl mpos mquat name plastic qpos qvel time", ""),
];

/// Words of a list; those in capitals stand for lists of their own.
fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace().flat_map(|word| {
        match word {
            "POSE" => POSE,
            "EQUALITY" => EQUALITY,
            "ACTUATOR" => ACTUATOR,
            "SENSOR" => SENSOR,
            word => word,
        }
        .split_ascii_whitespace()
    })
}

impl ElementSchema {
    /// The kind of a root.
    pub fn root() -> &'static ElementSchema {
        &ELEMENTS[0]
    }

    /// The kind of a child with this tag.
    pub fn child(&self, tag: &str) -> Option<&'static ElementSchema> {
        words(self.children).find(|known| *known == tag)?;
        let own = |kind: &&ElementSchema| {
            let (parent, name) = kind.tag.split_once('/').unwrap_or((self.tag, kind.tag));
            kind.tag.contains('/') && name == tag && parent == self.tag
        };
        let shared = |kind: &&ElementSchema| kind.tag == tag;
        ELEMENTS.iter().find(own).or_else(|| ELEMENTS.iter().find(shared))
    }

    /// Whether an attribute is unsupported and changes the motion.
    pub fn is_unsupported(&self, attribute: &str) -> bool {
        words(self.unsupported).any(|known| known == attribute)
    }

    fn attributes(&self) -> impl Iterator<Item = &'static str> {
        words(self.known).chain(words(self.unsupported))
    }
}

/// Checks that MJCF has every element and attribute.
pub(super) fn check(root: &Element) -> Result<(), SceneError> {
    check_as(root, ElementSchema::root())
}

fn check_as(element: &Element, kind: &ElementSchema) -> Result<(), SceneError> {
    if kind.support != ElementSupport::Read {
        return Ok(());
    }
    for attribute in &element.attributes {
        if !kind.attributes().any(|known| known == attribute.name) {
            let hint = nearest(&attribute.name, kind.attributes());
            return Err(SceneError::Model {
                place: attribute.place.clone(),
                what: format!(
                    "<{}> has an attribute \"{}\"; expected one of MJCF{hint}",
                    element.tag, attribute.name
                ),
            });
        }
    }
    for child in &element.children {
        let Some(kind) = kind.child(&child.tag) else {
            let hint = nearest(&child.tag, words(kind.children));
            return Err(child.error(format_args!(
                "found in <{}>; expected an element that MJCF allows there{hint}",
                element.tag
            )));
        };
        check_as(child, kind)?;
    }
    Ok(())
}

/// A hint at the most similar word.
fn nearest(found: &str, known: impl Iterator<Item = &'static str>) -> String {
    let near = known.min_by_key(|word| distance(found, word));
    near.map_or(String::new(), |word| format!(", such as \"{word}\""))
}

/// Letters to insert, remove or replace between two words.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 40;
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().take(LONGEST).enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn refusal(text: &str) -> String {
        let root = Element::parse(text, Path::new("a.xml")).unwrap();
        check(&root).unwrap_err().to_string()
    }

    #[test]
    fn every_word_leads_to_a_kind_and_every_kind_is_reached() {
        let mut reached = vec!["mujoco"];
        let mut waiting = vec![ElementSchema::root()];
        while let Some(kind) = waiting.pop() {
            for tag in words(kind.children) {
                let child = kind.child(tag).unwrap_or_else(|| panic!("<{tag}> in <{}>", kind.tag));
                if !reached.contains(&child.tag) {
                    reached.push(child.tag);
                    waiting.push(child);
                }
            }
        }
        for kind in ELEMENTS {
            assert!(reached.contains(&kind.tag), "{}", kind.tag);
        }
    }

    #[test]
    fn a_tag_means_what_its_parent_says() {
        let tendon = ElementSchema::root().child("tendon").unwrap();
        let fixed = tendon.child("fixed").unwrap();
        assert!(fixed.child("joint").unwrap().attributes().any(|name| name == "coef"));
        let default = ElementSchema::root().child("default").unwrap();
        assert!(default.child("joint").unwrap().attributes().any(|name| name == "armature"));
        assert!(default.child("tendon").unwrap().attributes().any(|name| name == "stiffness"));
    }

    #[test]
    fn unknown_elements_and_attributes_are_refused_with_the_nearest_word() {
        let message = refusal("<mujoco>\n<worldbody>\n<geom\nfrictoin='1'/></worldbody></mujoco>");
        assert!(message.starts_with("a.xml:4: <geom>"), "{message}");
        assert!(message.contains("\"frictoin\"") && message.contains("\"friction\""), "{message}");
        let message = refusal("<mujoco>\n<worldbod/></mujoco>");
        assert!(message.starts_with("a.xml:2: <worldbod>"), "{message}");
        assert!(message.contains("\"worldbody\""), "{message}");
    }

    #[test]
    fn the_distance_of_words_counts_changed_letters() {
        for (a, b, d) in [("", "abc", 3), ("kp", "kp", 0), ("siz", "size", 1), ("abc", "cab", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (d, d));
        }
    }
}
