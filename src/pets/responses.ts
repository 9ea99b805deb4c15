/** The shapes that the operations on animals return. Only the description needs them: not the worker. */
import * as z from 'zod/mini';
import { Int64 } from '../http/int64.ts';
import { NewPet } from './schema.ts';

export const Pet = z.looseObject({ id: Int64(), ...NewPet().shape });

export const Pets = z.array(Pet);
