//! Small files of each format, which the tests change.

/// A text that uses every section.
pub const EVERYTHING: &str = r#"<mujoco model="everything">
  <compiler angle="degree" autolimits="true" eulerseq="xyz" meshdir="assets" inertiafromgeom="auto"/>
  <option timestep="0.001" gravity="0 0 -9.81" integrator="implicitfast" cone="elliptic" impratio="10" magnetic="0 0.1 0.2" density="1.2" viscosity="0.01" wind="0 1 0">
    <flag eulerdamp="disable" warmstart="enable" frictionloss="enable"/>
  </option>
  <size memory="10M"/>
  <statistic extent="1"/>
  <visual><global azimuth="120"/></visual>
  <custom><numeric name="n" data="1 2 3"/></custom>
  <default>
    <geom friction="0.8 0.01 0.001" solref="0.01 1" solimp="0.9 0.99 0.001" condim="4"/>
    <joint damping="0.1" armature="0.01"/>
    <general ctrlrange="-1 1"/>
    <tendon stiffness="2" damping="0.1"/>
    <equality solref="0.01 1"/>
    <default class="servo"><position kp="100" dampratio="1" inheritrange="1"/>
      <default class="inner"><position kv="3"/><geom rgba="1 0 0 1" contype="0" conaffinity="0" group="2"/></default>
    </default>
  </default>
  <asset>
    <mesh name="tetra" file="tetra.obj" scale="1 -1 2" refpos="0.1 0 0"/>
    <mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="hills" nrow="2" ncol="3" size="1 1 0.2 0.1" elevation="0 1 0 1 0 1"/>
    <material name="red" rgba="1 0 0 1"/>
    <texture name="sky" type="skybox" builtin="gradient" width="8" height="8"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <geom name="hills" type="hfield" hfield="hills" pos="3 0 0"/>
    <site name="w" pos="1 0 2"/>
    <body name="a" pos="0 0 2" childclass="servo">
      <joint name="j1" axis="0 1 0.2" range="-100 80" stiffness="1.5" springref="10" frictionloss="0.1" actuatorfrcrange="-50 50"/>
      <geom name="ga" type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <geom name="drum" type="cylinder" size=".06 .2" pos=".25 0 0.1" euler="90 0 0" class="inner" mass="0.01"/>
      <site name="sa" pos=".2 .1 .05" xyaxes="1 0 0 0 0 1"/><site name="side" pos=".25 0 .3"/>
      <camera name="cam" pos=".1 0 0" zaxis="0 1 0"/>
      <frame pos="0 0 0.1" axisangle="1 0 0 30">
        <body name="b" pos=".5 0 0" quat="1 0.1 0 0" gravcomp="0.5">
          <inertial pos="0.1 0 0" mass="1" fullinertia="0.02 0.03 0.04 0.001 0 0"/>
          <joint name="j2" type="slide" axis="1 0 0" range="-.3 .2" ref="0.05" limited="true" margin="0.01"/>
          <geom name="gb" type="box" size=".1 .08 .12" priority="1" margin="0.001"/>
          <geom name="ball" size="0.05" pos=".1 0 .12" class="inner"/>
          <site name="sb" pos=".3 0 .1" type="box" size=".2 .2 .2"/>
          <body name="c" pos=".4 0 0"><joint name="j3" type="ball" range="0 100"/><geom type="ellipsoid" size=".1 .05 .2" density="500"/><site name="sc" pos=".05 .02 .1"/></body>
        </body>
      </frame>
    </body>
    <body name="f" pos="0.3 0.4 3" euler="30 20 10"><freejoint name="fj"/><geom name="gf" type="mesh" mesh="tetra"/><geom type="mesh" mesh="inline" mass="1"/><site name="sf"/></body>
    <replicate count="3" offset="0 0.3 0" euler="0 0 20"><body name="r" pos="2 0 1"><joint axis="0 0 1"/><geom name="gr" size="0.1"/></body></replicate>
  </worldbody>
  <contact><exclude body1="a" body2="c"/><pair geom1="gb" geom2="gf" condim="6" friction="0.7 0.7 0.01 0.001 0.001" solref="0.02 1" margin="0.01" gap="0.001"/></contact>
  <tendon>
    <fixed name="t1" range="-1 1" springlength="0.1 0.2" frictionloss="0.3"><joint joint="j1" coef="0.7"/><joint joint="j2" coef="-2"/></fixed>
    <spatial name="t2" limited="true" range="0 5"><site site="w"/><geom geom="drum" sidesite="side"/><site site="sb"/><pulley divisor="2"/><site site="sa"/><geom geom="ball"/><site site="sc"/></spatial>
  </tendon>
  <equality>
    <connect name="e1" body1="b" body2="f" anchor=".1 .2 .3"/><weld name="e2" body1="c" body2="f" relpose="1 2 3 0.8 0.6 0 0" anchor="1 2 3"/>
    <joint joint1="j1" joint2="j2" polycoef="0.1 2 3"/><tendon tendon1="t1" tendon2="t2"/><connect site1="sa" site2="sf" active="false"/>
  </equality>
  <actuator>
    <motor name="m1" joint="j1" gear="3" forcerange="-2 2"/><motor site="sf" gear="1 2 3 0.1 0.2 0.3"/>
    <position class="servo" joint="j1"/><position class="inner" joint="j2" gear="2"/><velocity tendon="t1" kv="9"/>
    <general name="g1" joint="j1" biastype="affine" gainprm="3" biasprm="0.3 -2 -0.1"/><muscle joint="j2"/><intvelocity joint="j2" kp="3" actrange="-1 1"/>
    <adhesion body="b" ctrlrange="0 1" gain="2"/>
  </actuator>
  <sensor>
    <accelerometer name="acc" site="sf" noise="0.1"/><gyro site="sf"/><touch site="sb"/><force site="sb"/><magnetometer site="sc"/><rangefinder site="sc"/>
    <framepos objtype="body" objname="c" reftype="camera" refname="cam"/><framequat objtype="xbody" objname="c"/><framezaxis objtype="geom" objname="gf"/>
    <jointpos joint="j1" cutoff="1"/><ballquat joint="j3"/><actuatorfrc actuator="m1"/><tendonpos tendon="t2"/><subtreecom body="a"/>
  </sensor>
  <keyframe><key name="home" time="1" qpos="0 0 1 0 0 0 0 0 1 1 0 0 0 0 0 0"/><key/></keyframe>
</mujoco>
"#;

/// A robot that uses all of the language.
pub const ROBOT: &str = r#"<?xml version="1.0"?>
<robot name="crane">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 0.3"/><mass value="4"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><origin xyz="0 0 0"/><geometry><mesh filename="package://crane/a.stl" scale="1 1 2"/>
      </geometry><material name="grey"/></visual>
    <collision><geometry><box size="1 1 0.2"/></geometry></collision>
    <contact><lateral_friction value="0.8"/></contact>
  </link>
  <link name="mast"><inertial><mass value="2"/>
      <inertia ixx="0.2" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.1"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision></link>
  <link name="boom"><inertial><mass value="1"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>
    <collision><geometry><mesh filename="package://crane/a.stl"/></geometry></collision></link>
  <link name="hook"/>
  <link name="load"><inertial><mass value="1"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>
  <joint name="slew" type="continuous"><parent link="base"/><child link="mast"/>
    <origin xyz="0 0 1"/><axis xyz="0 0 1"/><dynamics damping="0.1" friction="0.01"/></joint>
  <joint name="lift" type="revolute"><parent link="mast"/><child link="boom"/>
    <origin xyz="0 0 1" rpy="0 0.1 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" effort="100" velocity="1"/><mimic joint="slew" offset="0.1"/></joint>
  <joint name="reach" type="prismatic"><parent link="boom"/><child link="hook"/>
    <limit lower="0" upper="2" effort="10" velocity="1"/></joint>
  <joint name="swing" type="floating"><parent link="hook"/><child link="load"/></joint>
  <transmission name="t"/><gazebo reference="hook"><mu1>1</mu1></gazebo>
</robot>
"#;

/// A mesh.
pub const OBJ: &str = "# corner\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1/1 2/1 4/1\n\
                   f 2//1 3//1 4//1\nf -4 -1 -2\n";

/// A mesh.
pub const DAE: &str = "<COLLADA><asset><unit meter='0.01'/><up_axis>Z_UP</up_axis></asset>\
    <library_geometries><geometry id='g'><mesh><source id='s'>\
    <float_array id='f' count='12'>0 0 0 1 0 0 1 1 0 0 1 1</float_array>\
    <technique_common><accessor count='4' stride='3'/></technique_common></source>\
    <vertices id='v'><input semantic='POSITION' source='#s'/></vertices>\
    <polylist count='2'><input semantic='VERTEX' source='#v' offset='0'/>\
    <vcount>3 4</vcount><p>0 1 2 0 1 2 3</p></polylist></mesh></geometry></library_geometries>\
    <library_visual_scenes><visual_scene id='w'><node id='n'><rotate>0 0 1 30</rotate>\
    <matrix>1 0 0 1 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry url='#g'/></node>\
    <node><instance_node url='#n'/></node></visual_scene></library_visual_scenes>\
    <scene><instance_visual_scene url='#w'/></scene></COLLADA>";

/// A mesh.
pub const STL: &str = "solid corner\nfacet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\n\
    vertex 1 0 0\nendloop\nendfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n\
    vertex 0 0 1\nendloop\nendfacet\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\n\
    vertex 0 1 0\nendloop\nendfacet\nendsolid\n";

/// Bytes of a mesh.
pub fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(4_u32.to_le_bytes());
    for face in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
        bytes.extend([0; 12]);
        for corner in face {
            let at = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0_f32]];
            at[corner as usize].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

/// Bytes of a mesh.
pub fn msh() -> Vec<u8> {
    let counts = [4, 0, 0, 2].iter().flat_map(|n: &i32| n.to_le_bytes());
    let floats = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0_f32];
    let faces = [0, 1, 2, 0, 1, 3_i32];
    let floats = floats.iter().flat_map(|x| x.to_le_bytes());
    counts.chain(floats).chain(faces.iter().flat_map(|n| n.to_le_bytes())).collect()
}

/// Two tetrahedra as a legacy VTK file.
pub const VTK: &str = "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\n\
    POINTS 5 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n\
    CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10\n10\n";

/// Two tetrahedra as a Gmsh file of version 2.2.
pub const GMSH_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n\
    3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n$Elements\n2\n1 4 2 0 1 1 2 3 4\n\
    2 4 2 0 1 2 3 4 5\n$EndElements\n";

/// Two tetrahedra as a Gmsh file of version 4.1.
pub const GMSH_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 5 1 5\n3 1 0 5\n\
    1\n2\n3\n4\n5\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n$Elements\n1 2 1 2\n\
    3 1 4 2\n1 1 2 3 4\n2 2 3 4 5\n$EndElements\n";

/// A picture of 3 × 2 grey pixels whose stream is one stored block.
pub fn png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8], body: &[u8]| {
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend_from_slice(kind);
        bytes.extend_from_slice(body);
        bytes.extend([0; 4]);
    };
    let mut header = [3_u32.to_be_bytes(), 2_u32.to_be_bytes()].concat();
    header.extend([8, 0, 0, 0, 0]);
    chunk(b"IHDR", &header);
    let raw = [0, 10, 20, 30, 0, 15, 25, 40];
    let length = raw.len() as u16;
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend_from_slice(&raw);
    chunk(b"IDAT", &stream);
    chunk(b"IEND", &[]);
    bytes
}

/// Heights as MuJoCo stores them: rows, columns, single-precision numbers.
pub fn heights() -> Vec<u8> {
    let counts = [2_i32, 3].into_iter().flat_map(i32::to_le_bytes);
    counts.chain((0..6).flat_map(|k| (k as f32).to_le_bytes())).collect()
}
