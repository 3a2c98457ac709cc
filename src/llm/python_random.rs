//! Python's `random.Random(seed).sample`, which drew the shots of GITA4CALAMITA: MT19937 (Matsumoto and Nishimura, 1998)
//! seeded by `init_by_array`, and CPython's `Random._randbelow` and `Random.sample` (versions 3.11 and 3.12).

const WORDS: usize = 624;
const MIDDLE: usize = 397;

/// A Mersenne twister with Python's rules for integers and samples.
#[derive(Debug, Clone)]
pub struct PythonRandom {
    state: [u32; WORDS],
    next: usize,
}

impl PythonRandom {
    /// Like `random.Random(seed)`.
    pub fn new(seed: u32) -> Self {
        let mut random = PythonRandom { state: [0; WORDS], next: WORDS };
        random.fill(19_650_218);
        let state = &mut random.state;
        let mut i = 1;
        for _ in 0..WORDS {
            state[i] = (state[i] ^ mixed(state[i - 1]).wrapping_mul(1_664_525)).wrapping_add(seed);
            i = following(state, i);
        }
        for _ in 1..WORDS {
            state[i] = (state[i] ^ mixed(state[i - 1]).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i = following(state, i);
        }
        state[0] = 0x8000_0000;
        random
    }

    fn fill(&mut self, seed: u32) {
        self.state[0] = seed;
        for i in 1..WORDS {
            self.state[i] = mixed(self.state[i - 1]).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn twist(&mut self) {
        for i in 0..WORDS {
            let joined = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % WORDS] & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + MIDDLE) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// Below `n`, which is between 1 and 2^32 - 1.
    fn below(&mut self, n: usize) -> usize {
        let n = u32::try_from(n).expect("fewer than 2^32");
        let bits = u32::BITS - n.leading_zeros();
        loop {
            let word = self.word() >> (u32::BITS - bits);
            if word < n {
                return word as usize;
            }
        }
    }

    /// `count` different numbers below `population`, like `sample(range(population), count)`.
    ///
    /// # Panics
    /// If `count` is above `population`.
    pub fn sample(&mut self, population: usize, count: usize) -> Vec<usize> {
        assert!(count <= population, "a sample of {count} from {population}");
        if population <= copied(count) { self.swapped(population, count) } else { self.distinct(population, count) }
    }

    fn swapped(&mut self, population: usize, count: usize) -> Vec<usize> {
        let mut pool: Vec<usize> = (0..population).collect();
        let draw = |i: usize| {
            let (drawn, last) = (self.below(population - i), population - i - 1);
            let number = pool[drawn];
            pool[drawn] = pool[last];
            number
        };
        (0..count).map(draw).collect()
    }

    fn distinct(&mut self, population: usize, count: usize) -> Vec<usize> {
        let mut drawn = Vec::with_capacity(count);
        while drawn.len() < count {
            let number = self.below(population);
            if !drawn.contains(&number) {
                drawn.push(number);
            }
        }
        drawn
    }
}

/// Python copies a population of up to this size and swaps; from a larger one it draws until it has distinct numbers.
fn copied(count: usize) -> usize {
    let powers = (0..).map(|exponent| 4usize.pow(exponent));
    let table = powers.take_while(|_| count > 5).find(|&power| power >= 3 * count);
    21 + table.unwrap_or(0)
}

fn mixed(word: u32) -> u32 {
    word ^ (word >> 30)
}

/// The index after `i`; at the end, the last word is copied to the front and counting starts again.
fn following(state: &mut [u32; WORDS], i: usize) -> usize {
    if i + 1 == WORDS {
        state[0] = state[WORDS - 1];
        return 1;
    }
    i + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by Python 3.11: `random.Random(1234).getrandbits(32)`.
    #[test]
    fn words_are_those_of_python() {
        let mut random = PythonRandom::new(1234);
        assert_eq!([random.word(), random.word(), random.word()], [4_150_886_329, 3_342_196_574, 1_892_932_127]);
        let thousandth = (0..997).map(|_| random.word()).last();
        assert_eq!(thousandth, Some(3_677_914_080));
    }

    #[test]
    fn samples_are_those_of_python() {
        let draws = |population| {
            let mut random = PythonRandom::new(1234);
            move || random.sample(population, 4)
        };
        let mut of_356 = draws(356);
        assert_eq!([of_356(), of_356(), of_356()], [[225, 59, 3, 46], [298, 17, 343, 354], [42, 50, 181, 121]]);
        let mut of_15 = draws(15);
        assert_eq!([of_15(), of_15()], [[12, 7, 1, 0], [1, 12, 9, 0]]);
        assert_eq!(draws(4)(), [3, 0, 2, 1]);
    }

    /// Printed by Python 3.11: six are drawn for five shots, by another rule.
    #[test]
    fn larger_samples_are_those_of_python() {
        let drawn = |population| PythonRandom::new(1234).sample(population, 6);
        assert_eq!(drawn(356), [225, 59, 3, 46, 298, 17]);
        assert_eq!(drawn(80), [56, 14, 0, 11, 74, 4]);
        assert_eq!(drawn(21), [14, 3, 0, 2, 1, 17]);
    }

    #[test]
    fn samples_are_distinct_and_within_the_population() {
        let mut random = PythonRandom::new(7);
        for population in 1..60 {
            for count in 0..=population.min(7) {
                let mut drawn = random.sample(population, count);
                drawn.sort_unstable();
                drawn.dedup();
                assert!(drawn.len() == count && drawn.iter().all(|&number| number < population));
            }
        }
    }
}
