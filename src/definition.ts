import type * as z from 'zod/mini';

/** The permission that an operation needs, and that an API key has. */
export type Scope = 'read' | 'write';

/** A validated part of a request, as Hono's validators name them. */
export type Part = 'param' | 'query' | 'json';

/**
 * The inputs of an operation, for its route and for the OpenAPI description (openapi/). Each part has a strict object
 * schema, which is created when it is first needed. An operation without `query` accepts no query parameters.
 */
export type OperationDefinition = {
  operationId: string;
  scope: Scope;
  param?: () => z.ZodMiniObject;
  query?: () => z.ZodMiniObject;
  json?: () => z.ZodMiniObject;
  /** Media types of the body. Default: `application/json` alone. */
  mediaTypes?: readonly string[];
  /** Whether the operation accepts an `Idempotency-Key`. */
  idempotent?: boolean;
  /** The message of a 503 when D1 does not respond: what is unknown, and whether a retry is safe. */
  unavailable: string;
};
