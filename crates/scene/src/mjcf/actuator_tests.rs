//! Actuators of MJCF against closed forms.

use super::super::testing::{error, model};
use crate::import::Imported;
use stiction_mech::{
    ActivationDynamics, ActivationSpec, ActuatorBias, ActuatorGain, ActuatorLaw, ActuatorSpec,
    IntegralBound, MuscleActivation, Transmission,
};

/// A cart of mass 4 on a rail that carries a mass of 2 on another; a free body of mass 8.
const CARTS: &str = "<worldbody>
    <body><joint name='j' type='slide' axis='1 0 0' range='-1 3'/>
      <inertial pos='0 0 0' mass='4' diaginertia='1 1 1'/>
      <body><joint name='k' type='slide' axis='1 0 0'/>
        <inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body></body>
    <body><freejoint name='f'/><inertial pos='0 0 0' mass='8' diaginertia='1 1 1'/>
      <site name='s' pos='0 0 1' quat='0.7071067811865476 0 0 0.7071067811865476'/></body>
    <body><joint name='ball' type='ball'/><inertial pos='0 0 0' mass='8' diaginertia='1 1 1'/>
    </body></worldbody>";

fn read(actuators: &str, before: &str) -> Imported {
    model(&format!("{before}{CARTS}<actuator>{actuators}</actuator>"))
}

fn one(actuator: &str, defaults: &str) -> ActuatorSpec {
    let found = read(actuator, &format!("<default>{defaults}</default>"));
    assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
    found.world.model().actuators()[0].spec.clone()
}

#[test]
fn shortcuts_are_the_laws_that_their_names_promise() {
    let law = |text: &str| one(text, "").law;
    assert_eq!(law("<motor joint='j'/>"), ActuatorLaw::Motor);
    let servo = law("<position joint='j' kp='5' kv='2'/>");
    assert_eq!(servo, ActuatorLaw::Position { kp: 5.0, kd: 2.0 });
    assert_eq!(law("<velocity joint='j' kv='3'/>"), ActuatorLaw::Velocity { kd: 3.0 });
    let general = "<general joint='j' gainprm='7' biastype='affine' biasprm='1 -2 -3'/>";
    assert_eq!(law(general), ActuatorLaw::Affine { gain: 7.0, bias: [1.0, -2.0, -3.0] });
    let unbiased = "<general joint='j' gainprm='7' biasprm='1 -2 -3'/>";
    assert_eq!(law(unbiased).affine(), Some((7.0, [0.0; 3])));
}

#[test]
fn a_ratio_of_damping_refers_to_the_mass_that_the_servo_feels() {
    let (kp, ratio) = (50.0_f64, 0.7);
    // Pushing the second cart against the first: 1/m = 1/4 + 1/2. Pushing the first moves both, but
    // the second slides freely: 4. A gear of 3 makes a mass of a ninth.
    for (target, mass) in [
        ("joint='k'", 4.0 / 3.0),
        ("joint='j'", 4.0),
        ("joint='j' gear='3'", 4.0 / 9.0),
        ("joint='f' gear='0 0 1'", 8.0),
    ] {
        let spec = one(&format!("<position {target} kp='{kp}' dampratio='{ratio}'/>"), "");
        let (_, [_, _, b_rate]) = spec.law.affine().unwrap();
        let exact = -2.0 * ratio * (kp * mass).sqrt();
        assert!((b_rate - exact).abs() <= 1e-14 * exact.abs(), "{target}: {b_rate}, {exact}");
    }
}

#[test]
fn layers_of_defaults_refine_one_another_and_other_shortcuts_start_again() {
    let affine = |text: &str, defaults: &str| one(text, defaults).law.affine().unwrap();
    let (servo, general) = ("<position kp='300' kv='3'/>", "<general gainprm='300'/>");
    assert_eq!(affine("<position joint='j'/>", servo), (300.0, [0.0, -300.0, -3.0]));
    assert_eq!(affine("<position joint='j' kp='5'/>", servo), (5.0, [0.0, -5.0, -3.0]));
    assert_eq!(affine("<general joint='j'/>", servo), (300.0, [0.0, -300.0, -3.0]));
    assert_eq!(affine("<motor joint='j'/>", servo), (1.0, [0.0; 3]));
    assert_eq!(affine("<velocity joint='j'/>", servo), (1.0, [0.0, 0.0, -1.0]));
    assert_eq!(affine("<position joint='j'/>", general), (300.0, [0.0, -300.0, 0.0]));
    assert_eq!(affine("<velocity joint='j'/>", general), (300.0, [0.0, 0.0, -300.0]));
}

#[test]
fn ranges_count_as_they_say_and_may_be_those_of_the_joint() {
    let range = |text: &str, defaults: &str| one(text, defaults).control_range;
    assert_eq!(range("<motor joint='j' ctrlrange='-1 2'/>", ""), Some((-1.0, 2.0)));
    assert_eq!(range("<motor joint='j' ctrlrange='-1 2' ctrllimited='false'/>", ""), None);
    let half = "<position joint='j' inheritrange='0.5'/>";
    assert_eq!(range(half, "<motor ctrlrange='-9 9'/>"), Some((0.0, 2.0)));
    let own = "<position joint='j' ctrlrange='-2 2'/>";
    assert_eq!(range(own, "<position inheritrange='1'/>"), Some((-2.0, 2.0)));
    let spec = one("<motor joint='j' forcerange='-5 4'/>", "");
    assert_eq!(spec.force_range, Some((-5.0, 4.0)));
}

#[test]
fn a_wrench_at_a_site_is_turned_into_the_frame_of_its_body() {
    let spec = one("<motor site='s' gear='1 0 0 0 2 0'/>", "");
    let Transmission::Body { point, wrench, .. } = spec.transmission else {
        panic!("expected a wrench")
    };
    // The site is turned by a right angle about z: its x is the body's y, its y minus the body's x.
    let expected = [-2.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    assert!(wrench.iter().zip(expected).all(|(found, exact)| (found - exact).abs() <= 1e-15));
    assert_eq!(point.z, 1.0);
}

#[test]
fn shortcuts_with_activation_have_the_dynamics_that_their_names_promise() {
    let activation = |text: &str| one(text, "").activation.unwrap();
    let filter = |time_constant, exact| ActivationDynamics::Filter { time_constant, exact };
    let servo = activation("<position joint='j' kp='5' timeconst='0.3'/>");
    assert_eq!(servo, ActivationSpec::new(filter(0.3, true)));
    let cylinder = "<cylinder joint='j' timeconst='0.2' area='3' bias='1 -2 -3'/>";
    assert_eq!(activation(cylinder), ActivationSpec::new(filter(0.2, false)));
    assert_eq!(one(cylinder, "").law.affine(), Some((3.0, [1.0, -2.0, -3.0])));
    let integrated = activation("<intvelocity joint='j' kp='5' actrange='-1 2'/>");
    let range = Some((-1.0, 2.0));
    let exact = ActivationSpec { range, ..ActivationSpec::new(ActivationDynamics::Integrator) };
    assert_eq!(integrated, exact);
    let inherited = activation("<intvelocity joint='j' kp='5' inheritrange='0.5'/>");
    assert_eq!(inherited, ActivationSpec { range: Some((0.0, 2.0)), ..exact });
    let early = "<general joint='j' dyntype='filter' dynprm='0.1' actearly='true'/>";
    let exact = ActivationSpec { early: true, ..ActivationSpec::new(filter(0.1, false)) };
    assert_eq!(activation(early), exact);
    let damper = one("<damper joint='j' kv='3' ctrlrange='0 2'/>", "");
    // f = −kv u ℓ̇.
    assert_eq!(damper.law.force_and_slopes(2.0, 7.0, 0.5), (-3.0, [0.0, -6.0]));
    assert_eq!(damper.control_range, Some((0.0, 2.0)));
}

#[test]
fn a_muscle_gets_its_lengths_from_the_file_or_the_limits_and_its_force_from_the_mass() {
    let muscle = |text: &str| match one(text, "").law {
        ActuatorLaw::General {
            gain: ActuatorGain::Muscle(gain),
            bias: ActuatorBias::Muscle(bias),
        } => {
            assert_eq!(gain, bias);
            gain
        }
        law => panic!("{law:?}"),
    };
    // The joint has the range −1 … 3; the acceleration of both carts by a unit of force on the first is
    // (1/4, −1/4): the second cart stays where it is.
    let free = muscle("<muscle joint='j' scale='100'/>");
    // An acceleration of 20 m/s² presses into the soft limits by less than a centimetre: at rest the law is
    // k d² r/(1 − d) = 20 m/s² with k = 1/(0.02 s)² and d ≥ 0.9.
    let [lower, upper] = free.length_range;
    assert!((-1.01..-1.0).contains(&lower) && (3.0..3.01).contains(&upper), "{lower} {upper}");
    let exact = 100.0 / (2.0 * 0.25_f64.powi(2)).sqrt();
    assert!((free.peak_force - exact).abs() <= 1e-12 * exact);
    let given =
        muscle("<muscle joint='k' lengthrange='0.1 0.7' force='30' lmin='0.4' fvmax='1.1'/>");
    assert_eq!((given.length_range, given.peak_force), ([0.1, 0.7], 30.0));
    assert_eq!((given.shortest, given.lengthening, given.longest), (0.4, 1.1, 1.6));
    let layered = one(
        "<general joint='k' lengthrange='0 1' gainprm='0.7 1.1 50' biasprm='0.7 1.1 50'/>",
        "<muscle timeconst='0.02 0.05' tausmooth='0.1' vmax='2'/>",
    );
    let dynamics = MuscleActivation { rise: 0.02, fall: 0.05, smoothing: 0.1 };
    assert_eq!(layered.activation, Some(ActivationSpec::new(ActivationDynamics::Muscle(dynamics))));
    let ActuatorLaw::General { gain: ActuatorGain::Muscle(gain), .. } = layered.law else {
        panic!("expected a muscle")
    };
    assert_eq!((gain.range, gain.peak_force, gain.fastest), ([0.7, 1.1], 50.0, 2.0));
}

#[test]
fn the_range_of_a_tendon_is_not_the_range_of_lengths_of_its_muscle() {
    // MuJoCo finds the lengths that the joints allow, by simulation, or does not find them.
    let tendon = "<tendon><spatial name='t' range='0 0.5' limited='true'><site site='s'/><site site='w'/></spatial></tendon>
        <worldbody><site name='w'/></worldbody>";
    let found = model(&format!("{CARTS}{tendon}<actuator><muscle tendon='t'/></actuator>"));
    let is_listed = found.unsupported.iter().any(|entry| entry.physical);
    match found.world.model().actuators()[0].spec.law {
        ActuatorLaw::General { gain: ActuatorGain::Muscle(gain), .. } => {
            assert!(!is_listed && gain.length_range != [0.0, 0.5], "{gain:?}");
        }
        _ => assert!(is_listed),
    }
}

#[test]
fn transmissions_between_sites_and_at_contacts_are_read() {
    let refsite = one("<motor site='s' refsite='s' gear='1 2 3 4 5 6'/>", "");
    let Transmission::Sites(pair) = refsite.transmission else { panic!("{refsite:?}") };
    assert_eq!(pair.site, pair.reference);
    assert_eq!((pair.force.y, pair.torque.z), (2.0, 6.0));
    let crank = one("<motor cranksite='s' slidersite='s' cranklength='0.4' gear='2'/>", "");
    let Transmission::SliderCrank(pair) = crank.transmission else { panic!("{crank:?}") };
    assert_eq!((pair.rod, crank.gear), (0.4, 2.0));
    let pull = one("<adhesion body='world' ctrlrange='0 1' gain='7'/>", "");
    assert_eq!(pull.transmission, Transmission::Contacts(stiction_mech::BodyId::WORLD));
    assert_eq!((pull.law.affine(), pull.control_range), (Some((7.0, [0.0; 3])), Some((0.0, 1.0))));
}

#[test]
fn unsupported_actuators_are_listed_and_keep_their_control() {
    for actuator in [
        "<muscle joint='k'/>",
        "<muscle site='s'/>",
        "<dcmotor joint='j' motorconst='1 1' resistance='1' inductance='1'/>",
        "<dcmotor joint='j' motorconst='1 1' resistance='1' cogging='1 2 3'/>",
        "<plugin joint='j' plugin='mujoco.other'/>",
        "<pid site='s' input='pos'/>",
    ] {
        let found = read(&format!("{actuator}<motor joint='k'/>"), "");
        let lost: Vec<_> = found.unsupported.iter().filter(|entry| entry.physical).collect();
        assert_eq!(lost.len(), 1, "{actuator}: {lost:?}");
        assert_eq!(found.world.model().nu(), 2);
        let law = &found.world.model().actuators()[0].spec.law;
        assert_eq!(law.affine(), Some((0.0, [0.0; 3])), "{actuator}");
    }
}

#[test]
fn pid_servos_have_the_parameters_of_the_file() {
    let text = "<pid joint='j' kp='3' dampratio='0.5' ki='2' imax='1' slewmax='4' input='pos ff'
        posrange='-1 1' ffrange='-2 2' velrange='-3 3'/>";
    let servo = one(text, "");
    let pid = servo.pid.unwrap();
    assert_eq!((servo.control_count(), servo.activation_count()), (2, 2));
    assert_eq!((pid.ki, pid.slew_limit), (2.0, Some(4.0)));
    assert_eq!(pid.integral_bound, Some(IntegralBound::Stop(1.0)));
    let ranges: Vec<_> = servo.control_ranges().collect();
    assert_eq!(ranges, [Some((-1.0, 1.0)), Some((-2.0, 2.0))]);
    // kv = 2 ζ √(kp m): the cart carries another on the same rail, which slides freely, so that m is 4.
    let (gain, [_, b_length, b_rate]) = servo.law.affine().unwrap();
    assert_eq!((gain, b_length), (1.0, -3.0));
    assert!((b_rate + 2.0 * 0.5 * f64::sqrt(3.0 * 4.0)).abs() <= 1e-12);
    // Without integral and limit there is no state, and parameters come from defaults of the same shortcut only.
    let plain = one("<pid joint='j'/>", "<position kp='7' kv='2'/>");
    assert_eq!(plain.law.affine(), Some((1.0, [0.0, -1.0, 0.0])));
    assert_eq!((plain.control_count(), plain.activation_count()), (2, 0));
    let inherited = one("<pid joint='j'/>", "<pid kp='7' ki='2' input='pos'/>");
    assert_eq!(inherited.law.affine(), Some((1.0, [0.0, -7.0, 0.0])));
    assert_eq!((inherited.control_count(), inherited.activation_count()), (1, 1));
}

#[test]
fn electric_motors_have_the_torque_of_their_current() {
    // K = √(Kt Ke) = 4, R = 2: K/R u − K²/R ω.
    let plain = one("<dcmotor joint='j' motorconst='2 8' resistance='2' saturation='0 3'/>", "");
    assert_eq!(plain.law.affine(), Some((2.0, [0.0, 0.0, -8.0])));
    assert_eq!((plain.force_range, plain.control_count()), (Some((-12.0, 12.0)), 1));
    // K = 12/3, R = K 12/6.
    let nominal = one("<dcmotor joint='j'/>", "<dcmotor nominal='12 6 3'/>");
    assert_eq!(nominal.law.affine(), Some((0.5, [0.0, 0.0, -2.0])));
    // The controller compensates the voltage that the motion induces.
    let text = "<dcmotor joint='j' motorconst='2 8' resistance='2' input='pos ff' ctrlrange='-1 1'
        controller='5 2 0.5 3 4'/>";
    let servo = one(text, "");
    assert_eq!(servo.law.affine(), Some((1.0, [0.0, -5.0, -0.5])));
    let pid = servo.pid.unwrap();
    assert_eq!((pid.ki, pid.slew_limit), (2.0, Some(3.0)));
    assert!(servo.control_ranges().eq([Some((-1.0, 1.0)); 2]));
    // Without inputs it is a brake.
    let brake = one("<dcmotor joint='j' motorconst='2 8' resistance='2' input='none'/>", "");
    assert_eq!((brake.control_count(), brake.law.affine()), (0, Some((1.0, [0.0, 0.0, -8.0]))));
}

#[test]
fn the_pid_plugin_takes_its_configuration_from_its_instance_or_its_element() {
    let config = "<config key='kp' value='5'/><config key='ki' value='2'/>
        <config key='imax' value='3'/>";
    let extension = format!(
        "<extension><plugin plugin='mujoco.pid'><instance name='i'>{config}</instance></plugin>
         </extension>"
    );
    let found = [
        read("<plugin joint='j' plugin='mujoco.pid' instance='i' actdim='1'/>", &extension),
        read(&format!("<plugin joint='j' plugin='mujoco.pid' actdim='1'>{config}</plugin>"), ""),
    ];
    for found in found {
        assert!(found.unsupported.is_empty(), "{:?}", found.unsupported);
        let spec = &found.world.model().actuators()[0].spec;
        assert_eq!(spec.law.affine(), Some((1.0, [0.0, -5.0, 0.0])));
        let pid = spec.pid.unwrap();
        assert_eq!((pid.ki, pid.integral_bound), (2.0, Some(IntegralBound::Clamp(1.5))));
    }
}

#[test]
fn actuators_that_are_switched_off_exert_no_force() {
    for before in
        ["<option><flag actuation='disable'/></option>", "<option actuatorgroupdisable='2'/>"]
    {
        let found = read("<position joint='j' kp='5' group='2'/>", before);
        assert_eq!(found.world.model().actuators()[0].spec.law.affine(), Some((0.0, [0.0; 3])));
    }
}

#[test]
fn actuators_that_cannot_be_are_refused_at_their_line() {
    for inner in [
        "<motor/>",
        "<motor joint='none'/>",
        "<motor joint='j' tendon='t'/>",
        "<motor joint='j' ctrllimited='true'/>",
        "<motor joint='j' ctrlrange='1 0'/>",
        "<motor joint='j' forcerange='1 0'/>",
        "<position joint='j' kv='-1'/>",
        "<position joint='j' kv='1' dampratio='1'/>",
        "<position joint='j' ctrlrange='0 1' inheritrange='1'/>",
        "<position joint='k' inheritrange='1'/>",
        "<general joint='j' gaintype='magic'/>",
        "<general joint='j' actlimited='true' actrange='0 1'/>",
        "<intvelocity joint='j'/>",
        "<damper joint='j' ctrlrange='-1 1'/>",
        "<adhesion body='world' ctrlrange='-1 1'/>",
        "<motor cranksite='s' slidersite='s'/>",
        "<pid joint='j' input='vel pos'/>",
        "<pid joint='j' input='vel' ki='1'/>",
        "<pid joint='j' kv='1' dampratio='1'/>",
        "<general joint='j' gaintype='pid'/>",
        "<dcmotor joint='j' motorconst='1 1'/>",
        "<dcmotor joint='j' resistance='1'/>",
        "<dcmotor joint='j' motorconst='1' resistance='1' input='vel pos'/>",
        "<general joint='j' gaintype='pid' biastype='affine' gainprm='1'/>",
        "<general joint='j' gaintype='pid' biastype='affine' gainprm='0' dyntype='filter'/>",
    ] {
        let message = error(&format!("{CARTS}\n<actuator>{inner}</actuator>"));
        assert!(message.starts_with("main.xml:10: <"), "{inner}: {message}");
    }
}
