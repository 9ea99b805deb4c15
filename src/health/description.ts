import * as z from 'zod/mini';
import type { ResourceDescription } from '../operation/resource-description.ts';

const Health = z
  .object({
    status: z.enum(['ok']).register(z.globalRegistry, {
      description: 'Always `ok`: the worker is running.',
    }),
    environment: z.enum(['local', 'staging', 'production']).register(z.globalRegistry, {
      description: 'The environment of this deployment.',
    }),
    version: z
      .string()
      .check(z.length(36), z.regex(/^[0-9a-f-]+$/))
      .register(z.globalRegistry, { description: 'Identifier of the deployed version.' }),
  })
  .register(z.globalRegistry, {
    id: 'Health',
    description: 'The service is healthy.',
    examples: [
      {
        status: 'ok',
        environment: 'production',
        version: '7f3c0a52-0d1e-4a53-9f0b-6f6f1d3d8c11',
      },
    ],
  });

export const description: ResourceDescription = {
  tags: [{ name: 'service', description: 'Check the health of the service.' }],
  operations: {
    getHealth: {
      tags: ['service'],
      summary: 'Check service health',
      description:
        'Shows that the worker is running, and the id of its deployed version. Needs no API key, and uses neither KV nor D1. Also works at `/health`, without `/v1`.',
      responses: { 200: { description: 'The service is healthy.', schema: Health } },
    },
  },
};
