//! The time of a kernel, by a model of few constants: a launch, and the largest of several roofs. Blocks that are too few to
//! keep memory busy take the latencies for which their warps wait, one after another; the roofs of processors are those of the
//! one with the most blocks.
//!
//! The laws are those of docs/prediction.md. Nothing here is measured.

use crate::error::{Error, ErrorKind, Result};

/// Structs of figures, which have names.
macro_rules! figures {
    ($($(#[$about:meta])* pub struct $name:ident { $($(#[$what:meta])* pub $figure:ident: f64,)* })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Debug, Default)]
        #[repr(C)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$what])* pub $figure: f64,)*
        }

        impl $name {
            /// The names of the fields, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($figure)),*];

            /// The fields, in order.
            pub fn figures(&self) -> [f64; Self::NAMES.len()] {
                [$(self.$figure),*]
            }

            /// The struct with these fields, in order.
            pub fn of_figures([$($figure),*]: [f64; Self::NAMES.len()]) -> Self {
                $name { $($figure),* }
            }

            /// The struct with fields set, as in `Demand::default().with(|d| d.blocks = 8.0)`.
            pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
                set(&mut self);
                self
            }
        }
    )*};
}

figures! {
    /// The constants of a device in the model. Rates are per second; a limit of 0 is none.
    pub struct Device {
        /// Processors, each of which holds blocks.
        pub processors: f64,
        /// Threads of a warp.
        pub warp_size: f64,
        /// The most threads that a processor holds.
        pub threads: f64,
        /// The most blocks.
        pub blocks: f64,
        /// Registers of a processor; a warp takes them in multiples of 256.
        pub registers: f64,
        /// Bytes of shared memory of a processor.
        pub shared_bytes: f64,
        /// Bytes that device memory moves.
        pub memory_rate: f64,
        /// Bytes that the cache in front of it moves.
        pub cache_rate: f64,
        /// Operations that all processors do.
        pub operation_rate: f64,
        /// Instructions of warps that one processor issues.
        pub issue_rate: f64,
        /// Instructions that one warp issues; 0: as many as its processor.
        pub warp_rate: f64,
        /// Passes over the banks of shared memory that one processor does.
        pub pass_rate: f64,
        /// Atomic updates of one address.
        pub update_rate: f64,
        /// Seconds from a load to its value, where device memory has it.
        pub latency: f64,
        /// Seconds where the cache in front of it has it.
        pub cache_latency: f64,
        /// Seconds where the processor's own cache has it.
        pub own_latency: f64,
        /// Seconds that a launch takes.
        pub launch: f64,
        /// Seconds that each block takes beside its work.
        pub block: f64,
        /// Seconds `m` of memory and `a` of arithmetic take `(m^p + a^p)^(1/p)` together, with this as `p`; 0: the longer of both.
        pub overlap: f64,
    }

    /// The demands of a kernel on a device.
    pub struct Demand {
        /// Blocks.
        pub blocks: f64,
        /// Threads of a block.
        pub threads: f64,
        /// Registers of a thread.
        pub registers: f64,
        /// Bytes of shared memory of a block.
        pub shared_bytes: f64,
        /// Times that warps wait for loads; those that are under way together are waited for once.
        pub waits: f64,
        /// Loads of warps that the cache in front of device memory serves, or passes on.
        pub cache_loads: f64,
        /// Those of them that device memory serves.
        pub memory_loads: f64,
        /// Bytes of the sectors that loads and stores of warps move.
        pub moved: f64,
        /// Bytes that device memory moves.
        pub memory: f64,
        /// Passes over the banks of shared memory.
        pub passes: f64,
        /// Operations, in those of the unit that takes longest.
        pub operations: f64,
        /// Instructions that warps issue.
        pub issued: f64,
        /// Atomic updates of the address that has most.
        pub updates: f64,
    }

    /// The model's prediction for a kernel.
    pub struct Prediction {
        /// Blocks that a processor holds at a time; 0: it can't be launched.
        pub resident: f64,
        /// The share of a processor's threads that they fill; 0 where no limit of threads is stated.
        pub occupancy: f64,
        /// The number of times that all processors are filled.
        pub waves: f64,
        /// Seconds; infinite where it can't be launched.
        pub time: f64,
        /// The largest part of the time, by its number in `LIMITS`.
        pub limit: f64,
    }
}

/// The parts of a time that may limit it.
pub const LIMITS: [&str; 5] = ["launch", "latency", "memory", "arithmetic", "issue"];
const LAUNCH: usize = 0;
const LATENCY: usize = 1;
const MEMORY: usize = 2;
const ARITHMETIC: usize = 3;
const ISSUE: usize = 4;
/// Memory that is slowed down by more than this waits for latency.
const MAX_SLOWDOWN: f64 = 1.5;

impl Device {
    /// An error for a device on which no kernel has a time: without processors or warps, or with a figure that is negative, NaN,
    /// or infinite and no rate. The message names the field.
    ///
    /// ```
    /// use indexing_core::Device;
    ///
    /// let error = Device::default().with(|d| d.processors = f64::NAN).check().unwrap_err();
    /// assert_eq!(error.to_string(), "device.processors is NaN; expected a positive number");
    /// ```
    pub fn check(&self) -> Result<()> {
        for (name, figure) in [("processors", self.processors), ("warp_size", self.warp_size)] {
            if !(figure > 0.0 && figure.is_finite()) {
                return Err(refused(format!("device.{name} is {figure}; expected a positive number")));
            }
        }
        check_figures("device", Self::NAMES, &self.figures(), |name| name.ends_with("_rate"))
    }

    /// An error for a demand with a figure that is negative, NaN or infinite, or with work for which this device has no rate.
    pub fn check_demand(&self, d: &Demand) -> Result<()> {
        check_figures("demand", Demand::NAMES, &d.figures(), |_| false)?;
        let work = [
            ("memory", d.memory, "memory_rate", self.memory_rate),
            ("moved", d.moved, "cache_rate", self.cache_rate),
            ("passes", d.passes, "pass_rate", self.pass_rate),
            ("operations", d.operations, "operation_rate", self.operation_rate),
            ("issued", d.issued, "issue_rate", self.issue_rate),
            ("updates", d.updates, "update_rate", self.update_rate),
        ];
        match work.iter().find(|(_, amount, _, rate)| *amount > 0.0 && *rate == 0.0) {
            None => Ok(()),
            Some((name, amount, rate, _)) => {
                Err(refused(format!("demand.{name} is {amount}, and device.{rate} is 0")))
            }
        }
    }

    /// The prediction for a kernel that asks for `d`. It means nothing for what [`Device::check`] or [`Device::check_demand`]
    /// refuses.
    ///
    /// ```
    /// use indexing_core::{Demand, Device};
    ///
    /// let device = Device::default().with(|d| (d.processors, d.warp_size, d.threads, d.latency) = (4.0, 32.0, 1024.0, 1e-6));
    /// let kernel = Demand::default().with(|d| (d.blocks, d.threads) = (8.0, 512.0));
    /// let prediction = device.predict(&kernel);
    /// assert_eq!((prediction.resident, prediction.occupancy, prediction.waves), (2.0, 1.0, 1.0));
    /// let too_large = kernel.with(|d| d.threads = 2048.0);
    /// assert_eq!(device.predict(&too_large).time, f64::INFINITY);
    /// ```
    pub fn predict(&self, d: &Demand) -> Prediction {
        let warps = (d.threads / self.warp_size).ceil().max(1.0);
        let resident = self.resident(d, warps);
        if resident < 1.0 {
            return Prediction { time: f64::INFINITY, ..Prediction::default() };
        }
        let waves = d.blocks / (resident * self.processors);
        let (work, limit) = self.work(d, resident, warps);
        let launch = self.launch + self.block * (d.blocks / self.processors).ceil();
        let least = launch.max(self.latency);
        let fixed = if launch < self.latency { LATENCY } else { LAUNCH };
        let filled = resident * warps * self.warp_size;
        Prediction {
            resident,
            occupancy: if self.threads > 0.0 { filled / self.threads } else { 0.0 },
            waves,
            time: launch + self.latency + work,
            limit: if work < least { fixed } else { limit } as f64,
        }
    }

    /// Seconds of the longest part of the work, and what limits it.
    fn work(&self, d: &Demand, resident: f64, warps: f64) -> (f64, usize) {
        let blocks = d.blocks.max(1.0);
        let of_busiest = (blocks / self.processors).ceil();
        let of_one =
            |amount: f64, rate: f64| if amount > 0.0 { amount * of_busiest / blocks / rate } else { 0.0 };
        let of_warps = of_busiest.min(resident) * warps * self.warp_rate;
        let issue_rate = if of_warps > 0.0 { self.issue_rate.min(of_warps) } else { self.issue_rate };
        let waiting = self.waiting(d) / (blocks * warps);
        let memory = |amount: f64, rate: f64| self.memory_time(amount, rate, waiting, blocks, resident);
        let (device, cache) = (memory(d.memory, self.memory_rate), memory(d.moved, self.cache_rate));
        let at_best = (d.memory / self.memory_rate).max(d.moved / self.cache_rate);
        let slow = device.max(cache);
        let of_updates = if d.updates > 0.0 { d.updates / self.update_rate } else { 0.0 };
        let arithmetic = of_one(d.operations, self.operation_rate / self.processors);
        let parts = [
            (slow, if slow > MAX_SLOWDOWN * at_best { LATENCY } else { MEMORY }),
            (of_updates.max(of_one(d.passes, self.pass_rate)), MEMORY),
            (arithmetic, ARITHMETIC),
            (of_one(d.issued, issue_rate), ISSUE),
        ];
        let (longest, limit) =
            parts.into_iter().fold((0.0, MEMORY), |most, part| if part.0 > most.0 { part } else { most });
        (longest.max(self.together(slow, arithmetic)), limit)
    }

    /// Seconds of memory and of arithmetic, which overlap in part.
    fn together(&self, memory: f64, arithmetic: f64) -> f64 {
        let (shorter, longer) = (memory.min(arithmetic), memory.max(arithmetic));
        if self.overlap > 0.0 && shorter > 0.0 {
            longer * (1.0 + (shorter / longer).powf(self.overlap)).powf(1.0 / self.overlap)
        } else {
            longer
        }
    }

    /// Seconds that all warps wait, if each waits alone: a wait ends with its slowest load. How many waits are for the cache or
    /// for memory isn't known, but at most all of them, and at most one for each load.
    fn waiting(&self, d: &Demand) -> f64 {
        let cache = self.cache_latency.max(self.own_latency);
        d.waits * self.own_latency
            + d.waits.min(d.cache_loads) * (cache - self.own_latency)
            + d.waits.min(d.memory_loads) * (self.latency - cache).max(0.0)
    }

    /// Seconds in which memory of this rate moves so many bytes: full waves of blocks, then the rest of them; each takes at least
    /// the seconds that a warp of a block waits (Little's law: as many bytes are under way as its warps have asked for).
    fn memory_time(&self, bytes: f64, rate: f64, waiting: f64, blocks: f64, resident: f64) -> f64 {
        if bytes <= 0.0 {
            return 0.0;
        }
        let held = resident * self.processors;
        let waves = (blocks / held).floor();
        let rest = blocks - waves * held;
        let of = |part: f64, waves: f64| (bytes * part / blocks / rate).max(waiting * waves);
        of(waves * held, waves) + if rest > 0.0 { of(rest, 1.0) } else { 0.0 }
    }

    /// Blocks that a processor holds at a time: without any limit, all that it gets.
    fn resident(&self, d: &Demand, warps: f64) -> f64 {
        let of = |limit: f64, each: f64| {
            if limit > 0.0 && each > 0.0 {
                (limit / each).floor()
            } else {
                f64::INFINITY
            }
        };
        let of_warp = (d.registers * self.warp_size / 256.0).ceil() * 256.0;
        let held = of(self.threads, warps * self.warp_size)
            .min(of(self.blocks, 1.0))
            .min(of(self.registers, of_warp * warps))
            .min(of(self.shared_bytes, d.shared_bytes));
        if held == f64::INFINITY {
            (d.blocks / self.processors).ceil().max(1.0)
        } else {
            held
        }
    }
}

fn check_figures(
    what: &str,
    names: &[&str],
    figures: &[f64],
    may_be_infinite: fn(&str) -> bool,
) -> Result<()> {
    let odd = |name: &str, figure: f64| {
        figure.is_nan() || figure < 0.0 || (figure == f64::INFINITY && !may_be_infinite(name))
    };
    match names.iter().zip(figures).find(|(name, figure)| odd(name, **figure)) {
        None => Ok(()),
        Some((name, figure)) => {
            Err(refused(format!("{what}.{name} is {figure}; expected 0 or a positive number")))
        }
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Device = Device {
        processors: 100.0,
        warp_size: 32.0,
        threads: 2048.0,
        blocks: 32.0,
        registers: 65536.0,
        shared_bytes: 200_000.0,
        memory_rate: 1e12,
        cache_rate: 4e12,
        operation_rate: 1e13,
        issue_rate: 4e9,
        pass_rate: 1e9,
        update_rate: 1e9,
        warp_rate: 1e9,
        latency: 1e-6,
        cache_latency: 4e-7,
        own_latency: 1e-7,
        launch: 2e-6,
        block: 0.0,
        overlap: 0.0,
    };

    fn copy() -> Demand {
        Demand {
            blocks: 160_000.0,
            threads: 256.0,
            registers: 32.0,
            waits: 2.56e6 / 4.0,
            cache_loads: 2.56e6,
            memory_loads: 2.56e6,
            moved: 2.56e6 * 512.0,
            memory: 2.56e6 * 512.0,
            ..Demand::default()
        }
    }

    #[test]
    fn a_copy_moves_its_bytes_at_the_rate_of_memory() {
        let prediction = GPU.predict(&copy());
        assert_eq!((prediction.resident, prediction.occupancy, prediction.waves), (8.0, 1.0, 200.0));
        assert!((prediction.time - (3e-6 + 2.56e6 * 512.0 / 1e12)).abs() < 1e-12);
    }

    #[test]
    fn what_a_block_needs_limits_how_many_are_held() {
        let resident = |d: Demand| GPU.predict(&d).resident;
        assert_eq!(resident(Demand { threads: 1024.0, ..copy() }), 2.0);
        assert_eq!(resident(Demand { threads: 33.0, ..copy() }), 32.0);
        assert_eq!(resident(Demand { registers: 65.0, ..copy() }), 3.0); // 72 a thread
        assert_eq!(resident(Demand { shared_bytes: 49_000.0, ..copy() }), 4.0);
        let too_large = GPU.predict(&Demand { shared_bytes: 300_000.0, ..copy() });
        assert_eq!((too_large.resident, too_large.time), (0.0, f64::INFINITY));
    }

    #[test]
    fn a_processor_without_limits_holds_all_blocks_that_it_gets() {
        let free = Device::default().with(|d| (d.processors, d.warp_size, d.memory_rate) = (4.0, 32.0, 1e9));
        let kernel = Demand { blocks: 10.0, threads: 32.0, memory: 1e9, ..Demand::default() };
        let p = free.predict(&kernel);
        assert_eq!((p.resident, p.occupancy, p.waves), (3.0, 0.0, 10.0 / 12.0));
        assert!((p.time - 1.0).abs() < 1e-12, "{p:?}");
        assert_eq!(free.predict(&Demand { blocks: 0.0, ..kernel }).resident, 1.0);
    }

    #[test]
    fn figures_that_make_no_sense_are_refused_by_name() {
        let refused =
            |device: Device, demand: Demand| device.check().and_then(|()| device.check_demand(&demand));
        assert_eq!(refused(GPU, copy()), Ok(()));
        for (k, name) in Device::NAMES.iter().enumerate() {
            for odd in [f64::NAN, -1.0, f64::INFINITY] {
                let mut figures = GPU.figures();
                figures[k] = odd;
                let said = refused(Device::of_figures(figures), copy());
                let fine = odd == f64::INFINITY && name.ends_with("_rate");
                let start = format!("device.{name} is {odd}; expected");
                assert!(said.map_or_else(|e| e.message().starts_with(&start), |()| fine), "{name} {odd}");
            }
        }
        for (k, name) in Demand::NAMES.iter().enumerate() {
            for odd in [f64::NAN, -1.0, f64::INFINITY] {
                let mut figures = copy().figures();
                figures[k] = odd;
                let error = refused(GPU, Demand::of_figures(figures)).unwrap_err();
                assert_eq!(
                    error.message(),
                    format!("demand.{name} is {odd}; expected 0 or a positive number")
                );
            }
        }
        let idle = Device { pass_rate: 0.0, ..GPU };
        let error = refused(idle, Demand { passes: 2.0, ..copy() }).unwrap_err();
        assert_eq!(error.message(), "demand.passes is 2, and device.pass_rate is 0");
    }

    #[test]
    fn few_bytes_under_way_wait_for_memory() {
        let slow = GPU.predict(&Demand { blocks: 10.0, ..copy() });
        let bytes_a_second = 10.0 * 8.0 * 512.0 * 4.0 / 1e-6; // by Little's law: of 10 blocks of 8 warps with 4 loads
        assert!((slow.time - (3e-6 + 2.56e6 * 512.0 / bytes_a_second)).abs() < 1e-9);
        assert!(GPU.predict(&Demand { blocks: 5.0, ..copy() }).time > slow.time);
    }

    #[test]
    fn a_wait_is_as_long_as_the_farthest_of_its_loads() {
        let one = Demand { blocks: 1.0, threads: 32.0, moved: 128.0, memory: 128.0, ..Demand::default() };
        let waiting = |waits: f64, cache_loads: f64, memory_loads: f64| {
            GPU.predict(&Demand { waits, cache_loads, memory_loads, ..one }).time - 3e-6
        };
        assert!((waiting(1000.0, 0.0, 0.0) - 1e-4).abs() < 1e-12);
        assert!((waiting(1000.0, 4000.0, 0.0) - 4e-4).abs() < 1e-12);
        assert!((waiting(1000.0, 4000.0, 4000.0) - 1e-3).abs() < 1e-12);
        assert!((waiting(1000.0, 500.0, 100.0) - (500.0 * 1e-7 + 400.0 * 4e-7 + 100.0 * 1e-6)).abs() < 1e-12);
    }

    #[test]
    fn a_warp_issues_one_instruction_after_another() {
        let time = |blocks: f64, threads: f64| {
            GPU.predict(&Demand {
                blocks,
                threads,
                issued: 1e6 * blocks * threads / 32.0,
                ..Demand::default()
            })
            .time
                - 3e-6
        };
        assert!((time(1.0, 32.0) - 1e-3).abs() < 1e-9);
        assert!((time(1.0, 128.0) - 1e-3).abs() < 1e-9, "four at a time");
        assert!((time(1.0, 256.0) - 2e-3).abs() < 1e-9);
        assert!((time(400.0, 32.0) - 1e-3).abs() < 1e-9, "of four blocks on each processor");
    }

    fn limit(d: Demand) -> &'static str {
        LIMITS[GPU.predict(&d).limit as usize]
    }

    #[test]
    fn memory_and_arithmetic_of_a_core_overlap_in_part() {
        let work = |overlap: f64, memory: f64, operations: f64| {
            let d = Demand { blocks: 100.0, memory, operations, ..Demand::default() };
            GPU.with(|device| device.overlap = overlap).predict(&d).time - 3e-6
        };
        for (overlap, seconds) in [(0.0, 4e-3), (1.0, 7e-3), (2.0, 5e-3)] {
            assert!((work(overlap, 3e9, 4e10) - seconds).abs() < 1e-9);
            assert!((work(overlap, 4e9, 3e10) - seconds).abs() < 1e-9);
            assert!((work(overlap, 3e9, 0.0) - 3e-3).abs() < 1e-9);
        }
    }

    #[test]
    fn the_largest_of_the_roofs_decides_and_is_named() {
        let base = GPU.predict(&copy()).time;
        let cases = [
            (Demand { passes: 1e9, ..copy() }, "memory"),
            (Demand { operations: 1e11, ..copy() }, "arithmetic"),
            (Demand { issued: 4e9, ..copy() }, "issue"),
            (Demand { updates: 1e7, ..copy() }, "memory"),
        ];
        for (d, name) in cases {
            assert!((GPU.predict(&d).time - 0.010_003).abs() < 1e-9, "{d:?}");
            assert_eq!(limit(d), name);
        }
        assert_eq!(GPU.predict(&Demand { operations: 1e6, passes: 1e4, issued: 1e4, ..copy() }).time, base);
        assert_eq!(limit(copy()), "memory");
        assert_eq!(limit(Demand { blocks: 10.0, ..copy() }), "latency");
        assert_eq!(
            limit(Demand { blocks: 1.0, moved: 128.0, memory: 128.0, waits: 1.0, ..copy() }),
            "launch"
        );
    }

    #[test]
    fn the_processor_with_the_most_blocks_decides_and_the_last_blocks_have_memory_to_themselves() {
        let work = |blocks: f64| GPU.predict(&Demand { operations: 1e11, blocks, ..copy() }).time - 3e-6;
        assert!((work(801.0) / work(800.0) - 9.0 / 8.01).abs() < 1e-9);
        let memory = |blocks: f64| GPU.predict(&Demand { blocks, ..copy() }).time - 3e-6;
        let alone = 8.0 * 512.0 * 4.0 / 1e-6; // bytes a second of one block
        let expected = 2.56e6 * 512.0 * (800.0 / 801.0 / 1e12 + 1.0 / 801.0 / alone);
        assert!((memory(801.0) - expected).abs() < 1e-9);
    }
}
