//! The time of a kernel, by a model of few constants: a roofline whose memory roof is lower where too few bytes are
//! under way, and whose last wave of blocks may leave processors idle.
//!
//! The laws are those of docs/prediction.md. Nothing here is measured.

/// The constants of a device in the model. Rates are per second; a limit of 0 is none.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Machine {
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
    /// Passes over the banks of shared memory that one processor does.
    pub pass_rate: f64,
    /// Seconds from a load to its value.
    pub latency: f64,
    /// Loads that a warp has under way.
    pub loads_under_way: f64,
    /// Seconds that a launch takes.
    pub launch: f64,
    /// Seconds that each block takes beside its work.
    pub block: f64,
}

/// The demands of a kernel on a device.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Demand {
    /// Blocks.
    pub blocks: f64,
    /// Threads of a block.
    pub threads: f64,
    /// Registers of a thread.
    pub registers: f64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: f64,
    /// Loads and stores of warps.
    pub instructions: f64,
    /// Bytes of the sectors that they move.
    pub moved: f64,
    /// Bytes that device memory moves.
    pub memory: f64,
    /// Passes over the banks of shared memory.
    pub passes: f64,
    /// Operations on elements.
    pub operations: f64,
}

/// The model's prediction for a kernel.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct Prediction {
    /// Blocks that a processor holds at a time; 0: it can't be launched.
    pub resident: f64,
    /// The share of a processor's threads that they fill.
    pub occupancy: f64,
    /// The number of times that all processors are filled.
    pub waves: f64,
    /// Seconds; infinite where it can't be launched.
    pub time: f64,
}

impl Machine {
    /// The prediction for a kernel that asks for `d`.
    ///
    /// ```
    /// use indexing_core::{Demand, Machine};
    ///
    /// let machine = Machine { processors: 4.0, warp_size: 32.0, threads: 1024.0, latency: 1e-6, ..Machine::default() };
    /// let kernel = Demand { blocks: 8.0, threads: 512.0, ..Demand::default() };
    /// let found = machine.predict(&kernel);
    /// assert_eq!((found.resident, found.occupancy, found.waves), (2.0, 1.0, 1.0));
    /// let too_large = Demand { threads: 2048.0, ..kernel };
    /// assert_eq!(machine.predict(&too_large).time, f64::INFINITY);
    /// ```
    pub fn predict(&self, d: &Demand) -> Prediction {
        let warps = (d.threads / self.warp_size).ceil().max(1.0);
        let resident = self.resident(d, warps);
        if resident < 1.0 {
            return Prediction { time: f64::INFINITY, ..Prediction::default() };
        }
        let waves = d.blocks / (resident * self.processors);
        let held = (resident * self.processors).min(d.blocks.max(1.0));
        let busy = (d.blocks / self.processors).min(1.0).max(1.0 / self.processors);
        let loaded = d.moved / d.instructions.max(1.0) * held * warps * self.loads_under_way;
        let reached = |rate: f64| rate.min(loaded / self.latency).max(f64::MIN_POSITIVE);
        let of = |amount: f64, rate: f64| if amount > 0.0 { amount / rate } else { 0.0 };
        let work = of(d.memory, reached(self.memory_rate))
            .max(of(d.moved, reached(self.cache_rate)))
            .max(of(d.passes, self.pass_rate * self.processors * busy))
            .max(of(d.operations, self.operation_rate * busy));
        let uneven = if waves > 1.0 { waves.ceil() / waves } else { 1.0 };
        let blocks = self.block * (d.blocks / self.processors).ceil();
        Prediction {
            resident,
            occupancy: resident * warps * self.warp_size / self.threads,
            waves,
            time: self.launch + blocks + self.latency + work * uneven,
        }
    }

    fn resident(&self, d: &Demand, warps: f64) -> f64 {
        let of = |limit: f64, each: f64| {
            if limit > 0.0 && each > 0.0 {
                (limit / each).floor()
            } else {
                f64::INFINITY
            }
        };
        let of_warp = (d.registers * self.warp_size / 256.0).ceil() * 256.0;
        of(self.threads, warps * self.warp_size)
            .min(of(self.blocks, 1.0))
            .min(of(self.registers, of_warp * warps))
            .min(of(self.shared_bytes, d.shared_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Machine = Machine {
        processors: 100.0,
        warp_size: 32.0,
        threads: 2048.0,
        blocks: 32.0,
        registers: 65536.0,
        shared_bytes: 200_000.0,
        memory_rate: 1e12,
        cache_rate: 4e12,
        operation_rate: 1e13,
        pass_rate: 1e9,
        latency: 1e-6,
        loads_under_way: 4.0,
        launch: 2e-6,
        block: 0.0,
    };

    fn copy() -> Demand {
        Demand {
            blocks: 160_000.0,
            threads: 256.0,
            registers: 32.0,
            instructions: 2.56e6,
            moved: 2.56e6 * 512.0,
            memory: 2.56e6 * 512.0,
            ..Demand::default()
        }
    }

    #[test]
    fn a_copy_moves_its_bytes_at_the_rate_of_memory() {
        let found = GPU.predict(&copy());
        assert_eq!((found.resident, found.occupancy, found.waves), (8.0, 1.0, 200.0));
        assert!((found.time - (3e-6 + 2.56e6 * 512.0 / 1e12)).abs() < 1e-12);
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
    fn few_bytes_under_way_wait_for_memory() {
        let slow = GPU.predict(&Demand { blocks: 10.0, ..copy() });
        let bytes_a_second = 10.0 * 8.0 * 512.0 * 4.0 / 1e-6;
        assert!((slow.time - (3e-6 + 2.56e6 * 512.0 / bytes_a_second)).abs() < 1e-9);
        assert!(GPU.predict(&Demand { blocks: 5.0, ..copy() }).time > slow.time);
    }

    #[test]
    fn the_largest_of_the_roofs_decides_and_the_last_wave_counts_whole() {
        let base = GPU.predict(&copy()).time;
        assert!(GPU.predict(&Demand { passes: 1e9, ..copy() }).time > 0.0099);
        assert!(GPU.predict(&Demand { operations: 1e11, ..copy() }).time > 0.0099);
        assert_eq!(GPU.predict(&Demand { operations: 1e6, passes: 1e4, ..copy() }).time, base);
        let uneven = Demand { blocks: 801.0, ..copy() };
        let even = Demand { blocks: 800.0, ..copy() };
        let ratio = (GPU.predict(&uneven).time - 3e-6) / (GPU.predict(&even).time - 3e-6);
        assert!((ratio - 2.0 * 800.0 / 801.0).abs() < 1e-9);
    }
}
