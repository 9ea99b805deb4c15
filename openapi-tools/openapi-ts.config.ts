import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: '../public/v1/openapi.json',
  output: 'dist/hey-api',
  plugins: ['@hey-api/client-fetch', { name: '@hey-api/sdk', validator: true }, 'zod'],
});
