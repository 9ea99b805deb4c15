// Converts a backup of API keys (`wrangler kv key list`) to the input of `wrangler kv bulk put`. The metadata of a record is its value.
// A record without metadata was too large to be in a backup.
import { readFileSync } from 'node:fs';

const records = JSON.parse(readFileSync(0, 'utf8'));
const entries = records
  .filter(({ metadata }) => metadata)
  .map(({ name, metadata }) => ({ key: name, value: JSON.stringify(metadata), metadata }));
console.log(JSON.stringify(entries));
