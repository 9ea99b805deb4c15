/** The words for the main resource, first in code, then in texts for people. Once they are replaced, both are the same. */
export const SINGULARS = ['pet', 'animal'];
export const PLURALS = ['pets', 'animals'];
