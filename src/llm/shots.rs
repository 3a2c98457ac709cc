//! Which stories are shown with their answers before a question.

use super::python_random::PythonRandom;

/// The seed of GITA4CALAMITA.
pub const SEED: u32 = 1234;

/// The largest number of shots.
pub const MOST_SHOTS: usize = 5;

/// For each story asked, the places of its shots in the pool. `places` has the place of each story in the pool, if it
/// is there. One generator serves the stories in order: it draws one more than `shots`, leaves out the story itself if
/// it was drawn, and keeps the first `shots`. A pool that is too small for that gives what there is.
pub fn draw_shots(places: &[Option<usize>], pool: usize, shots: usize, seed: u32) -> Vec<Vec<usize>> {
    let mut random = PythonRandom::new(seed);
    let draw = |own: &Option<usize>| {
        let drawn = if shots == 0 { Vec::new() } else { random.sample(pool, (shots + 1).min(pool)) };
        drawn.into_iter().filter(|&place| Some(place) != *own).take(shots).collect()
    };
    places.iter().map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(pool: usize, shots: usize) -> Vec<Vec<usize>> {
        draw_shots(&(0..pool).map(Some).collect::<Vec<_>>(), pool, shots, SEED)
    }

    #[test]
    fn shots_are_the_first_three_without_the_story_itself() {
        let shots = own(356, 3);
        assert_eq!(shots[..3], [vec![225, 59, 3], vec![298, 17, 343], vec![42, 50, 181]]);
        assert_eq!(own(15, 3)[1], [12, 9, 0], "story 1 was drawn for itself");
        assert!(shots.iter().enumerate().all(|(story, shots)| shots.len() == 3 && !shots.contains(&story)));
    }

    #[test]
    fn a_small_pool_gives_what_there_is() {
        assert_eq!(own(1, 3), [[0; 0]]);
        let of_three = own(3, 3);
        assert!(of_three.iter().enumerate().all(|(story, shots)| shots.len() == 2 && !shots.contains(&story)));
        assert_eq!(own(2, 0), [[0; 0], [0; 0]]);
        assert_eq!(draw_shots(&[None, None], 2, 5, SEED).concat().len(), 4);
    }
}
