/** The messages use the words of the specification. */
import { ApiError } from '../errors.ts';

export function petNotFound(id: bigint): ApiError {
  return new ApiError('pet_not_found', `There is no animal with the id ${id}.`);
}

export function petHasOpenOrder(id: bigint): ApiError {
  return new ApiError(
    'pet_has_open_order',
    `The animal ${id} cannot be deleted, and its status cannot be set, until its open order is delivered or cancelled.`,
  );
}
