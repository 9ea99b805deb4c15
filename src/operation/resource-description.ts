/** A description does not ship. openapi/ adds what follows from the routes. */
import type * as z from 'zod/mini';
import type { ApiError } from '../errors.ts';

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
  requestBody?: { examples: Record<string, { summary?: string; value: unknown }> };
  responses: { [Status in 200 | 201 | 204]?: SuccessDescription };
};

export type SuccessDescription = {
  description: string;
  /** The response has `Location`, which a GET must answer. */
  location?: true;
  /** Absent if the response has no body. */
  schema?: z.ZodMiniType;
  /** Default: the first of the schema's examples. */
  example?: unknown;
};
