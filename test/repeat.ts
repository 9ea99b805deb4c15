/** Multiplies the number of runs of each property: 1, or more with `npm run test:long`. */
export const REPEAT = Number(process.env.REPEAT);
