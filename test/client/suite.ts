/** The suite of the client against the real store, for every runtime. */

import { answers } from './answers.ts';
import type { Behaviour } from './context.ts';
import { errors } from './errors.ts';
import { exactness } from './exact.ts';
import { limits } from './limits.ts';
import { reading } from './reading.ts';
import { retries } from './retries.ts';

export const suite: Record<string, Behaviour> = {
  ...exactness,
  ...retries,
  ...reading,
  ...answers,
  ...limits,
  ...errors,
};
