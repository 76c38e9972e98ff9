//! Benchmarks of Stiction.

mod cond_scaling;

fn main() -> Result<(), cond_scaling::Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let sizes = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000];
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["cond-scaling", "bar", figure] => {
            cond_scaling::run(cond_scaling::Shape::Bar, &sizes, 7, figure.as_ref())
        }
        ["cond-scaling", "cube", figure] => {
            cond_scaling::run(cond_scaling::Shape::Cube, &sizes, 7, figure.as_ref())
        }
        _ => Err("expected: cond-scaling bar|cube FIGURE.svg".into()),
    }
}
