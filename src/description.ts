/**
 * The type of a resource's description, in the words of OpenAPI. `src/<resource>/description.ts` has the texts and examples, and
 * openapi/ adds what follows from the routes and their definitions. The worker contains none of it: it imports only types from
 * these files.
 */
import type * as z from 'zod/mini';
import type { ApiError } from './errors.ts';

/** The schemas of a resource are described by their metadata in `z.globalRegistry`. */
export type ResourceDescription = {
  tags: { name: string; description: string }[];
  /** By `operationId`. */
  operations: Record<string, OperationDescription>;
  /** An example of each error code of the resource. */
  errors?: ApiError[];
};

/** Fields of an Operation Object: https://spec.openapis.org/oas/v3.1.1#operation-object */
export type OperationDescription = {
  tags: [string];
  summary: string;
  description: string;
  /** An operation without it is stable. */
  'x-stability'?: 'beta' | 'experimental';
  /** Examples of the body, for an operation whose definition has `json`. */
  requestBody?: { examples: Record<string, { summary?: string; value: unknown }> };
  /** Why the client retries a change with `safeRetry` that is no deletion: a row of the table in client/README.md. */
  retryReason?: string;
  /** The successful response. */
  responses: { [Status in 200 | 201 | 204]?: SuccessDescription };
};

/** Fields of a Response Object, and of the Media Type Object of its body. */
export type SuccessDescription = {
  description: string;
  /** Absent if the response has no body. */
  schema?: z.ZodMiniType;
  /** Default: the first of the schema's examples. */
  example?: unknown;
};
