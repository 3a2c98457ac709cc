// Stories to begin with. They are ours, not from a data set.
export const EXAMPLES = [
  { title: "The kettle without power", lang: "en", stories: [
    "Rosa filled the kettle.\nRosa switched the kettle on.\nRosa poured the hot water into the cup.",
    "Rosa unplugged the kettle.\nRosa switched the kettle on.\nRosa poured the hot water into the cup."] },
  { title: "The locked drawer", lang: "en", stories: [
    "Mia opened the drawer.\nMia took a spoon out of the drawer.\nMia stirred the soup with the spoon.",
    "Mia locked the drawer.\nMia took a spoon out of the drawer.\nMia stirred the soup with the spoon."] },
  { title: "Il bicchiere rotto", lang: "it", stories: [
    "Luca ha preso il bicchiere.\nLuca ha versato l'acqua nel bicchiere.\nLuca ha bevuto l'acqua dal bicchiere.",
    "Luca ha rotto il bicchiere.\nLuca ha versato l'acqua nel bicchiere.\nLuca ha bevuto l'acqua dal bicchiere."] },
  { title: "One story: the open fridge", lang: "en", stories: [
    "Ada shut the fridge.\nAda put the milk into the open fridge.\nAda went to bed.", ""] },
];
