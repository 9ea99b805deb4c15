/** Whether the TypeScript client retries an operation after a 5xx or no response, and the reason: for client/README.md. */

type Repetition = { isRepeated: boolean; reason: string };

/** By method, where it is the same for every operation. */
const BY_METHOD: Record<string, Repetition> = {
  get: { isRepeated: true, reason: 'It changes nothing.' },
  post: {
    isRepeated: true,
    reason: 'With its `Idempotency-Key`, a retry gets the first response.',
  },
};

/** Each PATCH and DELETE. `client/src/` decides it; a test compares. */
const BY_OPERATION: Record<string, Repetition> = {
  updatePet: {
    isRepeated: false,
    reason: 'A retry could overwrite changes of another client.',
  },
  deletePet: {
    isRepeated: true,
    reason: 'Ids are never reused. After a 5xx or no response, a 404 counts as success.',
  },
  updateOrder: {
    isRepeated: true,
    reason: 'An order never returns to an earlier status, so a retry changes nothing.',
  },
};

/** @throws Error when `BY_OPERATION` lacks an operation. */
export function repetitionOf(method: string, operationId: string): Repetition {
  const repetition = BY_METHOD[method] ?? BY_OPERATION[operationId];
  if (!repetition) throw new Error(`openapi/repetitions.ts has no line for ${operationId}`);
  return repetition;
}
