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
  tags: [{ name: 'service', description: 'The service itself: its health.' }],
  operations: {
    getHealth: {
      tags: ['service'],
      summary: 'Check service health',
      description:
        'Needs no key and reads neither KV nor D1: shows that the worker is running, and its version. Monitors can use `/health` without the version segment.',
      responses: { 200: { description: 'The service is healthy.', schema: Health } },
    },
  },
};
