/** How many times as many cases a property is tried with: 1, or more for `npm run test:long`. */
export const REPEAT = Number(process.env.REPEAT);
