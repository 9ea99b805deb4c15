import { defineConfig } from 'orval';

export default defineConfig({
  store: {
    input: '../public/v1/openapi.json',
    output: {
      target: 'dist/orval.ts',
      client: 'fetch',
      baseUrl: { runtime: 'process.env.STORE_URL' },
    },
  },
});
