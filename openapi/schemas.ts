/**
 * Metadata of the shared schemas for the description. Used only at build time, and separate from the schemas, so that
 * the worker does not contain it.
 */
import * as z from 'zod/mini';
import type { ZodOpenApiMetadata } from 'zod-openapi';
import { STATUS_OF } from '../src/errors.ts';
import { Int64 } from '../src/http/int64.ts';
import { LIMIT, Limit } from '../src/http/paging.ts';

/** `npm run openapi` adds the range, in digits. */
const INT64 = { type: 'integer', format: 'int64' } as const;

/** Greater than the length of the longest message. */
const MAX_MESSAGE = 4096;

type JsonSchema = z.core.JSONSchema.BaseSchema;

export const ErrorBody = z.looseObject({
  code: z.enum(Object.keys(STATUS_OF)),
  message: z.string().check(z.minLength(1), z.maxLength(MAX_MESSAGE)),
  status: z.int(),
});
export const ERROR_FIELDS = {
  code: 'The machine-readable error code. One of a closed set.',
  message: 'The human-readable description. Its wording may change.',
  status: 'The HTTP status of the response.',
};

describeSchema(Int64(), { override: replaceWith(INT64) });
describeSchema(Limit(), {
  override: replaceWith({ type: 'integer', format: 'int32', ...LIMIT }),
  param: { description: 'Maximum number of items to return.' },
});
describeSchema(ErrorBody.shape.status, {
  override: replaceWith({ type: 'integer', format: 'int32', minimum: 400, maximum: 599 }),
});

/** Adds metadata to a schema. */
export function describeSchema(schema: z.ZodMiniType, metadata: ZodOpenApiMetadata): void {
  z.globalRegistry.add(schema, metadata as z.core.GlobalMeta);
}

/** Describes an id in a path. */
export function describeId(schema: z.ZodMiniType, description: string): void {
  describeSchema(schema, { override: replaceWith(INT64), param: { description } });
}

/** Describes a filter of a list. Its schema is a `$ref`. */
export function describeFilter(schema: z.ZodMiniType, description: string): void {
  // Not enumerable, because zod-openapi copies enumerable metadata next to the $ref.
  describeSchema(schema, Object.defineProperty({}, 'param', { value: { description } }));
}

/** Describes the `cursor` of a list. */
export function describeCursor({ shape }: { shape: { cursor: z.ZodMiniType } }): void {
  describeSchema(shape.cursor, {
    override: replaceWith({
      type: 'string',
      pattern: '^[A-Za-z0-9_-]+$',
      minLength: 1,
      maxLength: 256,
    }),
    param: {
      description:
        'The page to return, from the `Link` header of the previous page. Opaque, and valid only with the same filter: any other value returns 400.',
    },
  });
}

/** Replaces the JSON Schema that is derived from a schema with a transformation or a check. */
export function replaceWith(replacement: JsonSchema) {
  return ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    for (const keyword of ['pattern', 'format', 'anyOf'] as const) delete jsonSchema[keyword];
    Object.assign(jsonSchema, replacement);
  };
}

/** Allows unknown fields: later versions may add fields to responses. */
export function allowUnknownFields({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema.additionalProperties;
}
