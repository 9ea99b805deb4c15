/** The description of the health check. */
import * as z from 'zod/mini';
import { unexpectedError } from '../../src/errors.ts';
import { JSON_TYPE } from '../../src/http/body.ts';
import { invalidPart } from '../../src/http/problems.ts';
import { NoParameters } from '../../src/http/schemas.ts';
import { httpsRequired } from '../../src/middleware/require-https.ts';
import { describeErrors, type ResourceDescription } from '../describe.ts';
import { headerRefs, REQUEST_ID } from '../headers.ts';
import { allowUnknownFields, describeSchema } from '../schemas.ts';

const Health = z.looseObject({
  status: z.enum(['ok']),
  environment: z.enum(['local', 'staging', 'production']),
  version: z.string().check(z.length(36), z.regex(/^[0-9a-f-]+$/)),
});
describeSchema(Health, {
  id: 'Health',
  description: 'The service is healthy.',
  override: allowUnknownFields,
});

const { error: invalidQuery } = NoParameters.safeParse({ verbose: '' });
if (!invalidQuery) throw new Error('the example of getHealth must be invalid');
const errors = [invalidPart(invalidQuery), httpsRequired(), unexpectedError(new Error())];

export const resource: ResourceDescription = {
  tags: [{ name: 'service', description: 'The service itself.' }],
  schemas: { Health },
  fields: {
    Health: {
      status: 'Always `ok`: the worker is running.',
      environment: 'The environment of this deployment.',
      version: 'Identifier of the deployed version.',
    },
  },
  paths: {
    '/health': {
      get: {
        operation: {
          operationId: 'getHealth',
          tags: ['service'],
          summary: 'Check service health',
          description:
            'Needs no key and reads neither KV nor D1: shows that the worker is running, and its version. Monitors can use `/health` without the version segment.',
          security: [],
          responses: {
            200: {
              description: 'The service is healthy.',
              headers: headerRefs(REQUEST_ID),
              content: {
                [JSON_TYPE]: {
                  schema: Health,
                  example: {
                    status: 'ok',
                    environment: 'production',
                    version: '7f3c0a52-0d1e-4a53-9f0b-6f6f1d3d8c11',
                  },
                },
              },
            },
            ...describeErrors(errors),
          },
        },
        errors,
      },
    },
  },
};
