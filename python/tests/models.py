"""Small models whose motion is known in closed form."""

GRAVITY = 9.81

ROD_MASS, ROD_LENGTH, ROD_INERTIA = 2.0, 0.5, 0.3
"""Mass [kg], distance of its centre from the hinge [m], inertia about its centre [kg m²]."""

PENDULUM = f"""
<mujoco model="pendulum">
  <compiler angle="radian"/>
  <option timestep="0.001" gravity="0 0 {-GRAVITY}"/>
  <worldbody>
    <body name="rod">
      <joint name="swing" type="hinge" axis="0 1 0"/>
      <inertial pos="0 0 {-ROD_LENGTH}" mass="{ROD_MASS}"
        diaginertia="{ROD_INERTIA} {ROD_INERTIA} {ROD_INERTIA}"/>
      <site name="tip" pos="0 0 {-2 * ROD_LENGTH}"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="torque" joint="swing" ctrlrange="-5 5"/>
  </actuator>
  <sensor>
    <jointpos name="angle" joint="swing"/>
    <framepos name="tip_position" objtype="site" objname="tip"/>
  </sensor>
  <keyframe>
    <key name="raised" qpos="0.5" qvel="0.25" ctrl="1.5"/>
  </keyframe>
</mujoco>
"""

BOX_MASS = 0.7

BOX = f"""
<mujoco model="box">
  <option timestep="0.002" gravity="0 0 {-GRAVITY}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="box" pos="0 0 0.1">
      <freejoint name="box"/>
      <geom name="cube" type="box" size="0.1 0.1 0.1" mass="{BOX_MASS}"/>
    </body>
  </worldbody>
</mujoco>
"""
