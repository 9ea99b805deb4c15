/** The definition of an operation, which stands in its route. openapi/ describes it. */
import type * as z from 'zod/mini';
import type { ErrorCode } from '../errors.ts';

export type Scope = 'read' | 'write';

export type OperationDefinition = AuthenticatedDefinition | PublicDefinition;

/** `query` and `json` are strict objects, and `param` is not: another parameter may precede it. */
type CommonDefinition = {
  operationId: string;
  param?: z.ZodMiniObject;
  query?: z.ZodMiniObject;
  /** Of the errors that the handler throws. All others follow from the definition. */
  errors?: readonly ErrorCode[];
};

export type AuthenticatedDefinition = CommonDefinition & {
  public?: never;
  json?: z.ZodMiniObject;
  /** Default: `application/json` alone. */
  mediaTypes?: readonly string[];
  deprecation?: Deprecation;
} & (
    | { scope: 'read'; acceptsIdempotencyKey?: never; effect?: never; safeRetry?: never }
    | ({
        scope: 'write';
        /** The end of "It is unknown whether …" in a 503. */
        effect: `the ${string} was ${string}`;
        /** The end of "A retry is safe: …" in that 503. */
        safeRetry?: string;
      } & (
        | { acceptsIdempotencyKey?: never }
        /** Its handler passes `c.get('once')` to `createOnce`. */
        | { acceptsIdempotencyKey: true; json: z.ZodMiniObject }
      ))
  );

/** A GET without a rate limit, so its handler has no database. */
export type PublicDefinition = CommonDefinition & {
  public: true;
  scope?: never;
  json?: never;
  mediaTypes?: never;
  deprecation?: never;
  acceptsIdempotencyKey?: never;
  effect?: never;
  safeRetry?: never;
};

export type Deprecation = {
  /** The day of the deprecation, such as `2026-11-20`. */
  since: string;
  /** The day of the announced removal. */
  sunset: string;
  /** The path of the replacement, without the version. */
  successor: string;
};
