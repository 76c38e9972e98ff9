//! Mass of bodies: `<inertial>`, the sum over geoms, and the compiler's corrections.

use nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};

use super::build::Build;
use super::compiler::Compiler;
use super::orientation;
use super::principal;
use crate::error::SceneError;
use crate::xml::Element;

/// Mass with its centre and its inertia about the centre, in the axes of the body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MassLump {
    /// [kg]
    pub mass: f64,
    /// [m]
    pub com: Vector3<f64>,
    /// [kg·m²]
    pub inertia: Matrix3<f64>,
    /// Principal axes in the body, if the file gives them.
    pub axes: Option<UnitQuaternion<f64>>,
}

impl MassLump {
    /// A lump from principal moments [kg·m²] in a frame of the body.
    pub fn principal(mass: f64, moments: Vector3<f64>, frame: &Isometry3<f64>) -> Self {
        let R = frame.rotation.to_rotation_matrix().into_inner();
        Self {
            mass,
            com: frame.translation.vector,
            inertia: R * Matrix3::from_diagonal(&moments) * R.transpose(),
            axes: Some(frame.rotation),
        }
    }

    /// The sum of several.
    pub fn sum(lumps: &[Self]) -> Self {
        if let [one] = lumps {
            return *one;
        }
        let mass: f64 = lumps.iter().map(|lump| lump.mass).sum();
        if !(mass > 0.0) {
            return Self::default();
        }
        let moment: Vector3<f64> = lumps.iter().map(|lump| lump.mass * lump.com).sum();
        let com = moment / mass;
        let mut inertia = Matrix3::zeros();
        for lump in lumps {
            let arm = lump.com - com;
            let away = Matrix3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose();
            inertia += lump.inertia + lump.mass * away;
        }
        Self { mass, com, inertia, axes: None }
    }

    /// Principal moments and the frame in which they stand.
    pub fn frame(&self) -> (Vector3<f64>, Isometry3<f64>) {
        let (moments, axes) = match self.axes {
            Some(axes) => {
                let R = axes.to_rotation_matrix().into_inner();
                ((R.transpose() * self.inertia * R).diagonal(), axes)
            }
            None => principal::decompose(&self.inertia, principal::EXACT),
        };
        (moments, Isometry3::from_parts(self.com.into(), axes))
    }

    /// With the compiler's least mass and inertia, and with balanced moments if it is set to do so.
    pub fn corrected(mut self, compiler: &Compiler) -> Self {
        self.mass = self.mass.max(compiler.least_mass);
        let (mut moments, frame) = self.frame();
        let mut changed = false;
        if moments.min() < compiler.least_inertia {
            moments = moments.map(|moment| moment.max(compiler.least_inertia));
            changed = true;
        }
        let impossible = 2.0 * moments.max() > moments.sum();
        if compiler.balance_inertia && impossible {
            moments = Vector3::repeat(moments.mean());
            changed = true;
        }
        if changed { Self::principal(self.mass, moments, &frame) } else { self }
    }
}

/// Reads `<inertial>`; `frame` is the pose of the enclosing frames in the body.
pub(super) fn read(
    build: &Build,
    element: &Element,
    frame: &Isometry3<f64>,
) -> Result<MassLump, SceneError> {
    let mass = super::joint::not_negative(element, "mass")?;
    element.require("mass")?;
    element.require("pos")?;
    let pose = frame * orientation::pose(element, build.compiler(element))?;
    let diagonal = element.vector("diaginertia")?;
    let Some([xx, yy, zz, xy, xz, yz]) = element.array::<6>("fullinertia")? else {
        let moments = diagonal.unwrap_or_default();
        if moments.iter().any(|moment| *moment < 0.0) {
            return Err(element.wrong("diaginertia", "three numbers that are not negative"));
        }
        return Ok(MassLump::principal(mass, moments, &pose));
    };
    if diagonal.is_some() {
        return Err(element.error("both diaginertia and fullinertia; expected one of them"));
    }
    let notations = ["quat", "axisangle", "xyaxes", "zaxis", "euler"];
    if let Some(name) = notations.into_iter().find(|name| element.peek(name).is_some()) {
        return Err(
            element.error(format_args!("both {name} and fullinertia; expected one of them"))
        );
    }
    let full = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let (moments, axes) = principal::decompose(&full, principal::EXACT);
    if !(moments.min() > 0.0) {
        return Err(element.wrong("fullinertia", "a matrix with positive principal moments"));
    }
    let R = pose.rotation.to_rotation_matrix().into_inner();
    Ok(MassLump {
        mass,
        com: pose.translation.vector,
        inertia: R * full * R.transpose(),
        axes: Some(pose.rotation * axes),
    })
}
