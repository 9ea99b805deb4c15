/** The version of the description. Written by generate.ts. */
export const VERSION = '1.0.0';
