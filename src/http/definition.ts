import type * as z from 'zod/mini';
import type { Scope } from '../auth/keys/record.ts';

/** A validated part of a request, as Hono's validators name them. */
export type Part = 'param' | 'query' | 'json';

/**
 * What an operation accepts. Its route and its description both use this definition. Each part is a strict object
 * schema, created when it is first needed. An operation without `query` accepts no query parameters.
 */
export type OperationDefinition = {
  operationId: string;
  scope: Scope;
  param?: () => z.ZodMiniObject;
  query?: () => z.ZodMiniObject;
  json?: () => z.ZodMiniObject;
  /** Media types of the body; default `application/json` alone. */
  mediaTypes?: readonly string[];
  /** Whether the operation accepts an `Idempotency-Key`. */
  idempotent?: boolean;
  /** The message of a 503 when D1 does not respond: what is unknown, and whether a retry is safe. */
  unavailable: string;
};
