//! The words of MJCF: every element with its attributes and children, and how each is treated.

use super::schema::{ElementSchema, ElementSupport, ignored, read, unsupported, with_children};

/// Stands for any attributes and children.
pub(super) const ANY: &str = "ANY";

const BODY: &str = "body frame replicate attach inertial joint freejoint geom site camera light \
    plugin composite flexcomp";

pub(super) const POSE: &str = "pos quat axisangle xyaxes zaxis euler";

const TENDON: &str = "name class group user limited range margin solreflimit solimplimit \
    solreffriction solimpfriction frictionloss springlength stiffness damping armature \
    actuatorfrclimited actuatorfrcrange width material rgba";

const FLEX_CONTACT: &str = "activelayers conaffinity condim contype friction gap internal margin passive \
    priority selfcollide solimp solmix solref";

pub(super) const EQUALITY: &str = "name class active solref solimp";

/// Attributes of all actuators but adhesion.
pub(super) const ACTUATOR: &str = "name class group user joint jointinparent tendon site refsite cranksite \
    slidersite cranklength gear ctrllimited ctrlrange forcelimited forcerange lengthrange armature \
    damping delay interp nsample";

pub(super) const SENSOR: &str = "name user noise cutoff delay interp interval nsample";

/// Every element, in the order of MuJoCo's reference.
pub(super) static ELEMENTS: &[ElementSchema] = &[
    with_children(
        "mujoco",
        "model",
        "compiler option size statistic visual default extension asset worldbody body deformable \
         contact tendon equality actuator sensor custom keyframe",
    ),
    // A body beside the world body is a fragment for other files; MuJoCo passes over it, too.
    ignored("mujoco/body", ANY, ""),
    with_children(
        "compiler",
        "alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict \
         convexhull coordinate discardvisual eulerseq exactmeshinertia fitaabb fusestatic \
         inertiafromgeom inertiagrouprange meshdir passthrough savecanonical savecompiled \
         saveinertial settotalmass strippath texturedir usethread",
        "lengthrange",
    ),
    read(
        "lengthrange",
        "accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit",
        "",
    ),
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
    read(
        "size",
        "memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt \
         nuser_sensor nuser_site nuser_tendon nuserdata",
        "",
    ),
    ignored("statistic", "center extent meaninertia meanmass meansize", ""),
    ignored("visual", "", "global quality headlight map scale rgba"),
    ignored(
        "global",
        "azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight \
         offwidth orthographic realtime",
        "",
    ),
    ignored("quality", "numquads numslices numstacks offsamples shadowsize", ""),
    ignored("headlight", "active ambient diffuse specular", ""),
    ignored(
        "map",
        "actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness \
         stiffnessrot torque zfar znear",
        "",
    ),
    ignored(
        "scale",
        "actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth \
         forcewidth framelength framewidth frustum jointlength jointwidth light selectpoint \
         slidercrank",
        "",
    ),
    ignored(
        "rgba",
        "actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint \
         contactforce contactfriction contactgap contactpoint contacttorque crankbroken fog force \
         frustum haze inertia joint light rangefinder selectpoint slidercrank",
        "",
    ),
    with_children("extension", "", "plugin"),
    with_children("extension/plugin", "plugin", "instance"),
    with_children("instance", "name", "config"),
    ignored("custom", "", "numeric text tuple"),
    ignored("numeric", "data name size", ""),
    ignored("text", "data name", ""),
    ignored("tuple", "name", "element"),
    ignored("element", "objname objtype prm", ""),
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
    ignored("skin", "face file group inflate material name rgba texcoord vertex", "bone"),
    ignored("bone", "bindpos bindquat body vertid vertweight", ""),
    ignored(
        "texture",
        "builtin class colorspace content_type embed file fileback filedown filefront fileleft \
         fileright fileup gridlayout gridsize height hflip mark markrgb name nchannel random rgb1 \
         rgb2 type vflip width",
        "",
    ),
    ignored(
        "material",
        "class emission metallic name reflectance rgba roughness shininess specular texrepeat \
         texture texuniform",
        "layer",
    ),
    ignored("layer", "role texture", ""),
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
    ignored(
        "light",
        "active ambient attenuation bulbradius castshadow class cutoff diffuse dir directional \
         exponent intensity mode name pos range softness specular target texture type",
        "",
    ),
    with_children("geom/plugin", "instance plugin", "config"),
    with_children("mesh/plugin", "instance plugin", "config"),
    unsupported("plugin", "instance plugin", "config"),
    // An element of older versions.
    unsupported("composite", ANY, ""),
    with_children(
        "flexcomp",
        "cellcount count dim dof element file flatskin group inertiabox mass material mesh name \
         origin point radius rgba rigid scale spacing texcoord type POSE",
        "edge elasticity contact pin plugin",
    ),
    read("edge", "damping equality solimp solref stiffness", ""),
    read(
        "elasticity",
        "damping elastic2d poisson section sectionsize shear thickness yield young",
        "",
    ),
    read("flexcomp/contact", FLEX_CONTACT, ""),
    unsupported("flex/contact", FLEX_CONTACT, ""),
    read("pin", "grid gridrange id range", ""),
    with_children("deformable", "", "flex skin"),
    unsupported(
        "flex",
        "body cellcount dim dof element elemtexcoord flatskin group material name node nodecoord \
         radius rgba texcoord vertex",
        "contact edge elasticity",
    ),
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
    unsupported("equality/flex", "EQUALITY flex", ""),
    unsupported("flexstrain", "EQUALITY cell flex", ""),
    // Elements of older versions.
    unsupported("flexvert", "EQUALITY flex", ""),
    unsupported("equality/distance", "EQUALITY distance geom1 geom2", ""),
    with_children(
        "actuator",
        "",
        "general motor position velocity intvelocity orientation pid damper cylinder muscle \
         adhesion dcmotor plugin",
    ),
    read(
        "general",
        "ACTUATOR body actdim actearly actlimited actrange biasprm biastype dynprm dyntype gainprm \
         ffrange gaintype inheritrange input velrange",
        "",
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
    read("config", "key value", ""),
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
    ignored("camprojection", "SENSOR camera site", ""),
    read("rangefinder", "SENSOR camera data site", ""),
    read("jointpos", "SENSOR joint", ""),
    read("jointvel", "SENSOR joint", ""),
    read("tendonpos", "SENSOR tendon", ""),
    read("tendonvel", "SENSOR tendon", ""),
    read("actuatorpos", "SENSOR actuator", ""),
    read("actuatorvel", "SENSOR actuator", ""),
    read("actuatorfrc", "SENSOR actuator", ""),
    read("jointactuatorfrc", "SENSOR joint", ""),
    read("tendonactuatorfrc", "SENSOR tendon", ""),
    read("ballquat", "SENSOR joint", ""),
    read("ballangvel", "SENSOR joint", ""),
    read("jointlimitpos", "SENSOR joint", ""),
    read("jointlimitvel", "SENSOR joint", ""),
    read("jointlimitfrc", "SENSOR joint", ""),
    read("tendonlimitpos", "SENSOR tendon", ""),
    read("tendonlimitvel", "SENSOR tendon", ""),
    read("tendonlimitfrc", "SENSOR tendon", ""),
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
    read("subtreelinvel", "SENSOR body", ""),
    read("subtreeangmom", "SENSOR body", ""),
    read("insidesite", "SENSOR enclosed objname objtype site", ""),
    read("distance", "SENSOR body1 body2 geom1 geom2", ""),
    read("normal", "SENSOR body1 body2 geom1 geom2", ""),
    read("fromto", "SENSOR body1 body2 geom1 geom2", ""),
    read(
        "sensor/contact",
        "SENSOR body1 body2 data geom1 geom2 num reduce site subtree1 subtree2",
        "",
    ),
    read("e_potential", "SENSOR", ""),
    read("e_kinetic", "SENSOR", ""),
    read("clock", "SENSOR", ""),
    ignored("tactile", "SENSOR geom mesh", ""),
    read("user", "SENSOR datatype dim needstage objname objtype", ""),
    ignored("sensor/plugin", "SENSOR instance objname objtype plugin refname reftype", "config"),
    with_children("keyframe", "", "key"),
    read("key", "act ctrl mpos mquat name plastic qpos qvel time", ""),
];
