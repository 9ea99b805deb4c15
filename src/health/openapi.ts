/** What the description says of the health check. */
import * as z from 'zod/mini';
import { unexpected } from '../errors.ts';
import { JSON_TYPE } from '../http/body.ts';
import { foreignOrigin } from '../middleware/cross-origin.ts';
import { httpsRequired } from '../middleware/require-https.ts';
import { describeErrors, type ResourceDescription } from '../openapi/describe.ts';
import { REQUEST_ID } from '../openapi/headers.ts';
import { describeSchema, open } from '../openapi/schemas.ts';

const Health = z.looseObject({
  status: z.literal('ok'),
  environment: z.enum(['local', 'staging', 'production']),
  version: z.string(),
});
describeSchema(Health, { id: 'Health', description: 'The service is healthy.', override: open });

const errors = [foreignOrigin(), httpsRequired(), unexpected(new Error())];

export const resource: ResourceDescription = {
  tags: [{ name: 'service', description: 'The service itself.' }],
  schemas: { Health },
  paths: {
    '/health': {
      get: {
        operation: {
          operationId: 'getHealth',
          tags: ['service'],
          summary: 'Check service health',
          description:
            'Needs no key and reads nothing: it shows that the worker runs, and which version of it. Monitors can use `/health` without the version segment.',
          security: [],
          responses: {
            200: {
              description: 'The service is healthy.',
              headers: REQUEST_ID,
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
            ...describeErrors(errors, {}),
          },
        },
        errors,
      },
    },
  },
};
