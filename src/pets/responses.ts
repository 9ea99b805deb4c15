/** The schemas of responses about pets. Only the description uses them, not the worker. */
import * as z from 'zod/mini';
import { Int64 } from '../http/int64.ts';
import { NewPet } from './schema.ts';

export const Pet = z.looseObject({ id: Int64(), ...NewPet().shape });

export const Pets = z.array(Pet);
