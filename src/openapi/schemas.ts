/**
 * What the description says of the shared schemas beyond what they say themselves. Build time only: kept
 * apart from the schemas, so that none of it is in the worker.
 */
import * as z from 'zod/mini';
import type { ZodOpenApiMetadata } from 'zod-openapi';
import { STATUS_OF } from '../errors.ts';
import { Int64, PathId } from '../http/int64.ts';
import { LIMIT, Limit } from '../http/paging.ts';

const INT64 = { type: 'integer', format: 'int64' } as const;

type JsonSchema = z.core.JSONSchema.BaseSchema;

export const ErrorBody = z.looseObject({
  code: z.enum(Object.keys(STATUS_OF)),
  message: z.string(),
  status: z.int().check(z.minimum(400), z.maximum(599)),
});

describeSchema(Int64, {
  override: as(INT64),
  description: 'From -9223372036854775808 to 9223372036854775807.',
});
describeSchema(PathId, { override: as(INT64), description: 'Identifier.' });
describeSchema(Limit, {
  override: as({ type: 'integer', ...LIMIT }),
  description: 'Maximum number of items to return.',
});
describeSchema(ErrorBody.shape.code, { description: 'What a program can act on: a closed set.' });
describeSchema(ErrorBody.shape.message, {
  description: 'What a person can act on. Its words may change.',
});
describeSchema(ErrorBody.shape.status, { description: 'The HTTP status of the response.' });

/** Adds what a schema cannot say of itself. */
export function describeSchema(schema: z.ZodMiniType, metadata: ZodOpenApiMetadata): void {
  z.globalRegistry.add(schema, metadata as z.core.GlobalMeta);
}

/** Describes the `cursor` of a list. */
export function describeCursor({ shape }: { shape: { cursor: z.ZodMiniType } }): void {
  describeSchema(shape.cursor, {
    override: as({ type: 'string' }),
    description:
      'From the `Link` of the page before: opaque, and valid for the same filter only. Any other is a 400.',
  });
}

/** Replaces what is derived from a schema that parses text or has a check. */
export function as(replacement: JsonSchema) {
  return ({ jsonSchema }: { jsonSchema: JsonSchema }) => {
    for (const keyword of ['pattern', 'format', 'anyOf'] as const) delete jsonSchema[keyword];
    Object.assign(jsonSchema, replacement);
  };
}

/** Fields may be added to what the service returns: clients ignore those that they do not know. */
export function open({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  delete jsonSchema.additionalProperties;
}
