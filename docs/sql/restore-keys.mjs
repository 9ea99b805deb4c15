// Converts a backup of API keys (`wrangler kv key list`) to the input of `wrangler kv bulk put`: the records of all keys, or of the key
// with this id. The metadata of a record is its value. A record without metadata was too large to be in a backup.
import { readFileSync } from 'node:fs';

const [, , id] = process.argv;
const records = JSON.parse(readFileSync(0, 'utf8'));
const entries = records
  .filter(({ metadata }) => metadata && (id === undefined || metadata.id === id))
  .map(({ name, metadata }) => ({ key: name, value: JSON.stringify(metadata), metadata }));
if (entries.length === 0) throw new Error('the backup has no such record');
console.log(JSON.stringify(entries));
