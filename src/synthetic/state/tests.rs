use super::*;
use crate::synthetic::action::MAX_ROLES;
use crate::synthetic::violation::Strength;

/// An action with things for its roles, in the alphabetical order of the roles' letters.
pub fn step(world: &World, action: &str, things: &[&str]) -> Step {
    let index = world.actions.iter().position(|a| a.id == action).unwrap_or_else(|| panic!("no action {action}"));
    assert_eq!(world.actions[index].roles.len(), things.len(), "{action}");
    let mut ids = [0; MAX_ROLES];
    for (role, name) in things.iter().enumerate() {
        let thing = world.things.iter().position(|t| t.id == *name).unwrap_or_else(|| panic!("no thing {name}"));
        ids[role] = ThingId::try_from(thing).unwrap();
        assert!(world.actions[index].roles[role].accepts(ids[role]), "{action}: {name}");
    }
    Step::new(index, ids)
}

/// (evidence, breakpoint, attribute) of a story's violations.
fn told(story: &[(&str, &[&str])]) -> Vec<(usize, usize, Attribute)> {
    let world = World::load().unwrap();
    let steps: Vec<_> = story.iter().map(|(action, things)| step(&world, action, things)).collect();
    violations(&world, steps.chunks(1)).iter().map(|v| (v.evidence, v.breakpoint, v.attribute)).collect()
}

#[test]
fn what_is_unknown_contradicts_nothing() {
    assert!(told(&[("take_out", &["drawer", "pencil"]), ("close", &["drawer"]), ("open", &["drawer"])]).is_empty());
}

#[test]
fn what_is_gone_is_not_used() {
    let story: [(&str, &[&str]); 3] =
        [("throw_away", &["scissors"]), ("sing", &[]), ("cut_paper", &["photo", "scissors"])];
    assert_eq!(told(&story), [(0, 2, Attribute::Exist)]);
}

#[test]
fn the_evidence_is_the_last_sentence_that_said_otherwise() {
    let story: [(&str, &[&str]); 3] = [("close", &["box"]), ("find_closed", &["box"]), ("put_in", &["box", "photo"])];
    assert_eq!(told(&story), [(1, 2, Attribute::Open)]);
}

#[test]
fn a_need_becomes_known_and_can_be_contradicted() {
    // An actor who takes something out of a drawer has it open, so it can't be opened afterwards.
    let story: [(&str, &[&str]); 2] = [("take_out", &["drawer", "pencil"]), ("open", &["drawer"])];
    assert_eq!(told(&story), [(0, 1, Attribute::Open)]);
}

#[test]
fn what_is_in_a_thing_is_gone_with_it() {
    let story: [(&str, &[&str]); 3] =
        [("put_in", &["box", "photo"]), ("burn_up", &["box"]), ("take_out", &["box", "photo"])];
    assert_eq!(told(&story), [(1, 2, Attribute::Exist), (1, 2, Attribute::Exist)]);
}

#[test]
fn what_comes_into_being_takes_nothing_with_it() {
    let story: [(&str, &[&str]); 3] = [("pour", &["cup", "milk"]), ("buy", &["cup"]), ("buy", &["milk"])];
    assert_eq!(told(&story), [(0, 1, Attribute::Exist), (0, 2, Attribute::Exist)]);
}

#[test]
fn what_stands_in_a_room_is_used_there_only() {
    let story: [(&str, &[&str]); 3] = [("go", &["garden"]), ("go", &["kitchen"]), ("open", &["oven"])];
    assert!(told(&story).is_empty());
    assert_eq!(told(&[story[1], story[0], story[2]]), [(1, 2, Attribute::HLocation)]);
}

#[test]
fn who_sleeps_does_nothing() {
    assert_eq!(told(&[("fall_asleep", &[]), ("read", &["newspaper"])]), [(0, 1, Attribute::Conscious)]);
    assert!(told(&[("fall_asleep", &[]), ("wake", &[]), ("read", &["newspaper"])]).is_empty());
}

#[test]
fn what_has_no_lid_need_not_be_open() {
    assert!(told(&[("close", &["drawer"]), ("pour", &["cup", "milk"])]).is_empty());
}

#[test]
fn another_takes_the_place_of_what_is_broken() {
    assert!(told(&[("smash", &["cup"]), ("buy", &["cup"]), ("pour", &["cup", "milk"])]).is_empty());
    let story: [(&str, &[&str]); 3] = [("buy", &["cup"]), ("smash", &["cup"]), ("pour", &["cup", "milk"])];
    assert_eq!(told(&story), [(1, 2, Attribute::Functional), (1, 2, Attribute::Pieces)]);
}

#[test]
fn what_is_broken_is_still_there() {
    assert_eq!(told(&[("smash", &["cup"]), ("not_found", &["cup"])]), [(0, 1, Attribute::Exist)]);
}

#[test]
fn what_was_taken_apart_is_repaired() {
    assert!(told(&[("disassemble", &["computer"]), ("mend", &["computer"]), ("turn_on", &["computer"])]).is_empty());
}

#[test]
fn what_is_broken_can_be_broken_to_pieces() {
    assert!(told(&[("broke_itself", &["cup"]), ("sing", &[]), ("smash", &["cup"])]).is_empty());
}

#[test]
fn cooking_does_not_help_what_has_gone_bad() {
    assert_eq!(told(&[("spoiled", &["fish"]), ("cook", &["fish"])]), [(0, 1, Attribute::Edible)]);
}

#[test]
fn who_does_not_eat_something_can_drop_or_lose_it() {
    let refuses: (&str, &[&str]) = ("cannot_have", &["cheese"]);
    assert!(told(&[refuses, ("drop_food", &["floor", "cheese"])]).is_empty());
    assert!(told(&[("throw_away", &["cheese"]), refuses]).is_empty());
    assert_eq!(told(&[refuses, ("eat", &["cheese"])]), [(0, 1, Attribute::Edible)]);
}

#[test]
fn what_has_no_power_can_be_unplugged_once() {
    assert!(told(&[("power_outage", &["tv"]), ("unplug", &["tv"])]).is_empty());
    assert_eq!(told(&[("not_plugged", &["tv"]), ("unplug", &["tv"])]), [(0, 1, Attribute::Power)]);
}

#[test]
fn a_tub_is_filled_with_other_water() {
    assert!(told(&[("drink", &["water"]), ("fill_tub", &["sink", "water"])]).is_empty());
}

#[test]
fn what_may_have_come_about_since_is_a_weak_conflict() {
    let world = World::load().unwrap();
    let strength = |story: &[(&str, &[&str])]| {
        let steps: Vec<_> = story.iter().map(|(action, things)| step(&world, action, things)).collect();
        violations(&world, steps.chunks(1)).first().map(|violation| violation.strength)
    };
    assert_eq!(strength(&[("turn_on", &["radio"]), ("is_broken", &["radio"])]), Some(Strength::Changed));
    assert_eq!(strength(&[("pick_up", &["cup"]), ("not_found", &["cup"])]), Some(Strength::Changed));
    assert_eq!(strength(&[("is_broken", &["radio"]), ("turn_on", &["radio"])]), Some(Strength::Plain));
    assert_eq!(strength(&[("pick_up", &["cup"]), ("buy", &["cup"])]), Some(Strength::Plain));
}

#[test]
fn a_named_thing_is_repaired_only_if_it_broke() {
    let world = World::load().unwrap();
    let (buy, smash, glue) =
        (step(&world, "buy", &["cup"]), step(&world, "smash", &["cup"]), step(&world, "glue", &["cup"]));
    let mut state = State::new(&world);
    assert!(!state.repairs_what_is_whole(&glue));
    state.tell(&[buy]);
    assert!(state.repairs_what_is_whole(&glue));
    assert!(!state.replaces(&buy));
    state.tell(&[smash]);
    assert!(!state.repairs_what_is_whole(&glue));
    assert!(state.replaces(&buy));
}
