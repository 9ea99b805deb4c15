/** The messages use the words of the specification. */
import { ApiError } from '../errors.ts';
import type { PetStatus } from '../pets/schemas.ts';
import type { OrderStatus } from './schemas.ts';

export function orderNotFound(id: bigint): ApiError {
  return new ApiError('order_not_found', `There is no order with the id ${id}.`);
}

/** @param status - in the message, unless the animal has none or has just become available. */
export function petNotAvailable(id: bigint, status: PetStatus | null): ApiError {
  const why = status === null || status === 'available' ? '' : `: it is ${status}`;
  return new ApiError('pet_not_available', `The animal ${id} is not available${why}.`);
}

export function invalidTransition(from: OrderStatus, to: OrderStatus): ApiError {
  return new ApiError('invalid_transition', `The order is ${from}: it cannot become ${to}.`);
}
