//! Runs a loop nest in the widest instruction set of the processor, chosen at run time.
//!
//! A [`Job`] is plain safe Rust whose floating-point work is written with `f64::mul_add`. Compiled
//! for AVX2 and FMA it becomes vector code, compiled for the baseline it is its own safe twin: both
//! round once per `mul_add` in the same order, so they agree bit for bit (tested where jobs are
//! defined). The job's `run` must be `#[inline(always)]`, and so must all it calls in its loops.

/// A loop nest that is compiled once per instruction set.
pub trait Job {
    /// Return type of the loop nest.
    type Output;
    /// Does the work; must be `#[inline(always)]`.
    fn run(self) -> Self::Output;
}

/// Runs the job with AVX2 and FMA where the processor has them.
#[inline]
#[allow(unsafe_code)] // the one call from baseline code into code for a checked instruction set
pub fn dispatch<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the two features that `run_avx2_fma` is compiled for have just been detected.
        return unsafe { run_avx2_fma(job) };
    }
    job.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2_fma<J: Job>(job: J) -> J::Output {
    job.run()
}
