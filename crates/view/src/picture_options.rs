//! The user's options for pictures and videos: size, time, force arrows and camera.
//!
//! As text they are a comma-separated list of `key=value`, see [`KEYS`]. Each exporter has defaults for
//! options that are absent. Angles are in degrees here and in radians in the renderer.

use std::fmt;
use std::str::FromStr;

use nalgebra::Vector3;

use crate::ViewError;
use crate::raster::camera::CameraView;
use crate::raster::{LARGEST, MOST_PIXELS, RenderSettings};

/// Keys of the text with their value and meaning.
pub const KEYS: [(&str, &str, &str); 9] = [
    ("size", "WIDTHxHEIGHT", "size of the picture [px]"),
    ("time", "SECONDS", "time of a .png; the last frame if absent"),
    ("forces", "on|off", "arrows of contact forces: blue along the normal, orange friction"),
    ("view", "NAME", "corner, front (from +x), back, left (+y), right or side (-y), above, top"),
    ("azimuth", "DEGREES", "direction to the camera about z, from x towards y"),
    ("elevation", "DEGREES", "direction to the camera above the ground, -90 to 90"),
    ("look-at", "X:Y:Z", "point in the middle [m]; that of the whole scene if absent"),
    ("distance", "METRES", "from that point to the camera; fits the scene if absent"),
    ("zoom", "FACTOR", "factor by which the camera is closer"),
];

/// Directions with a name: azimuth and elevation [degrees].
const VIEWS: [(&str, Option<[f64; 2]>); 8] = [
    ("corner", None),
    ("front", Some([0.0, 10.0])),
    ("back", Some([180.0, 10.0])),
    ("left", Some([90.0, 10.0])),
    ("right", Some([-90.0, 10.0])),
    ("side", Some([-90.0, 10.0])),
    ("top", Some([-90.0, 90.0])),
    ("above", Some([-90.0, 60.0])),
];

/// Options for pictures and videos.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PictureOptions {
    /// Width and height [px].
    pub size: Option<[usize; 2]>,
    /// Time of a single picture [s].
    pub time: Option<f64>,
    /// Whether contact forces are drawn.
    pub forces: bool,
    /// Direction to the camera about z, from x [degrees].
    pub azimuth: Option<f64>,
    /// Direction to the camera above the ground [degrees].
    pub elevation: Option<f64>,
    /// The point in the middle [m].
    pub look_at: Option<[f64; 3]>,
    /// Distance from that point to the camera [m].
    pub distance: Option<f64>,
    /// Factor by which the camera is closer than that.
    pub zoom: Option<f64>,
}

impl PictureOptions {
    /// Sets the option of a key.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ViewError> {
        let wrong = |expected: &str| ViewError::PictureOption {
            key: key.to_owned(),
            found: value.to_owned(),
            expected: expected.to_owned(),
        };
        let number = |expected: &str, fine: fn(f64) -> bool| {
            let number = value.trim().parse::<f64>().ok().filter(|x| x.is_finite() && fine(*x));
            number.map(Some).ok_or_else(|| wrong(expected))
        };
        match key {
            "size" => {
                let side = |text: &str| {
                    text.trim().parse().ok().filter(|side| (1..=LARGEST).contains(side))
                };
                let size = value.split_once(['x', '×']);
                let size = size.and_then(|(width, height)| Some([side(width)?, side(height)?]));
                let size = size.filter(|[width, height]| width * height <= MOST_PIXELS);
                let expected = format!(
                    "WIDTHxHEIGHT in pixels, each at most {LARGEST}, together at most {MOST_PIXELS}"
                );
                self.size = Some(size.ok_or_else(|| wrong(&expected))?);
            }
            "time" => self.time = number("a time in seconds", |_| true)?,
            "forces" => {
                self.forces = match value {
                    "on" | "true" | "yes" => true,
                    "off" | "false" | "no" => false,
                    _ => return Err(wrong("on or off")),
                };
            }
            "view" => {
                let found = VIEWS.iter().find(|(name, _)| *name == value);
                let names = VIEWS.map(|(name, _)| name).join(", ");
                let (_, angles) = found.ok_or_else(|| wrong(&format!("one of: {names}")))?;
                (self.azimuth, self.elevation) = (angles.map(|a| a[0]), angles.map(|a| a[1]));
            }
            "azimuth" => self.azimuth = number("an angle in degrees", |_| true)?,
            "elevation" => {
                self.elevation = number("an angle in degrees from -90 to 90", |x| x.abs() <= 90.0)?;
            }
            "look-at" => {
                let numbers: Vec<f64> =
                    value.split(':').map_while(|part| part.trim().parse().ok()).collect();
                let point = <[f64; 3]>::try_from(numbers).ok();
                let point = point
                    .filter(|p| p.iter().all(|x| x.is_finite()) && value.split(':').count() == 3);
                self.look_at =
                    Some(point.ok_or_else(|| wrong("X:Y:Z in metres, such as 0:0:0.5"))?);
            }
            "distance" => {
                self.distance = number("a distance in metres above zero", |x| x > 0.0)?;
            }
            "zoom" => self.zoom = number("a number above zero", |x| x > 0.0)?,
            _ => {
                return Err(ViewError::PictureOption {
                    key: String::new(),
                    found: key.to_owned(),
                    expected: format!("one of: {}", KEYS.map(|(name, ..)| name).join(", ")),
                });
            }
        }
        Ok(())
    }

    /// The renderer's settings `own` with these options applied.
    pub fn apply_to(&self, own: RenderSettings) -> RenderSettings {
        let [width, height] = self.size.unwrap_or([own.width, own.height]);
        let view = CameraView {
            yaw: self.azimuth.map_or(own.view.yaw, f64::to_radians),
            pitch: self.elevation.map_or(own.view.pitch, f64::to_radians),
            target: self.look_at.map(Vector3::from).or(own.view.target),
            distance: self.distance.or(own.view.distance),
            zoom: self.zoom.unwrap_or(own.view.zoom),
        };
        RenderSettings { width, height, view, forces: self.forces || own.forces, ..own }
    }
}

impl FromStr for PictureOptions {
    type Err = ViewError;

    fn from_str(text: &str) -> Result<Self, ViewError> {
        let mut options = Self::default();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (key, value) = part.split_once('=').ok_or_else(|| ViewError::PictureOption {
                key: String::new(),
                found: part.to_owned(),
                expected: "KEY=VALUE, such as size=1280x720".to_owned(),
            })?;
            options.set(key.trim(), value.trim())?;
        }
        Ok(options)
    }
}

impl fmt::Display for PictureOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.size.map(|[width, height]| format!("size={width}x{height}")));
        let numbers = [
            ("time", self.time),
            ("azimuth", self.azimuth),
            ("elevation", self.elevation),
            ("distance", self.distance),
            ("zoom", self.zoom),
        ];
        parts.extend(numbers.iter().filter_map(|(key, x)| x.map(|x| format!("{key}={x}"))));
        parts.extend(self.look_at.map(|[x, y, z]| format!("look-at={x}:{y}:{z}")));
        parts.extend(self.forces.then(|| "forces=on".to_owned()));
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_back_from_their_text() {
        let text = "size=640x400,time=1.5,view=front,forces=on,look-at=0:-1:0.25,distance=3,zoom=2";
        let options: PictureOptions = text.parse().unwrap();
        assert_eq!(
            (options.size, options.time, options.forces),
            (Some([640, 400]), Some(1.5), true)
        );
        assert_eq!((options.azimuth, options.look_at), (Some(0.0), Some([0.0, -1.0, 0.25])));
        assert_eq!(options.to_string().parse::<PictureOptions>().unwrap(), options);
        assert_eq!("".parse::<PictureOptions>().unwrap(), PictureOptions::default());
        // Later keys override earlier ones.
        let options: PictureOptions = "view=top, elevation=45".parse().unwrap();
        assert_eq!((options.azimuth, options.elevation), (Some(-90.0), Some(45.0)));
    }

    #[test]
    fn every_key_of_the_list_is_known_and_every_other_refused_with_the_list() {
        for (key, ..) in KEYS {
            let told = PictureOptions::default().set(key, "?").unwrap_err().to_string();
            assert!(told.contains(key) && told.contains('?'), "{told}");
        }
        for (text, expected) in [
            ("sise=3x4", "size"),
            ("size=0x9", "WIDTHxHEIGHT"),
            ("size=90000x9", "pixels"),
            ("forces=maybe", "on or off"),
            ("view=bottomless", "front"),
            ("elevation=91", "-90 to 90"),
            ("look-at=1:2", "X:Y:Z"),
            ("look-at=1:2:3:x", "X:Y:Z"),
            ("distance=-1", "above zero"),
            ("time=nan", "seconds"),
            ("top", "KEY=VALUE"),
        ] {
            let told = text.parse::<PictureOptions>().unwrap_err().to_string();
            assert!(told.contains(expected), "{text}: {told}");
        }
    }
}
