/** The errors of the operations on pets. The messages use the words of the specification. */
import { ApiError } from '../errors.ts';

export function petNotFound(id: bigint): ApiError {
  return new ApiError('pet_not_found', `There is no animal with the id ${id}.`);
}

export function petHasOpenOrder(id: bigint): ApiError {
  return new ApiError(
    'pet_has_open_order',
    `The animal ${id} has an open order. Until the order is delivered or cancelled, its status cannot be set and it cannot be deleted.`,
  );
}
