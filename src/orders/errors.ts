/** The errors of the operations on orders. The messages use the words of the specification. */
import { ApiError } from '../errors.ts';
import type { OrderStatus } from './schemas.ts';

export function orderNotFound(id: bigint): ApiError {
  return new ApiError('order_not_found', `There is no order with the id ${id}.`);
}

export function petNotAvailable(id: bigint, status: string | null): ApiError {
  const current = status === null ? 'it has no status' : `its status is ${status}`;
  return new ApiError('pet_not_available', `The animal ${id} is not available: ${current}.`);
}

export function invalidTransition(from: OrderStatus, to: OrderStatus): ApiError {
  return new ApiError('invalid_transition', `The order is ${from}: it cannot become ${to}.`);
}
