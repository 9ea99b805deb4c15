// The first step of a command (package.json): fails unless the packages are installed. Only `npm start`, `npm run dev` and `npm test`
// install them themselves.
import { isInstalled, NEEDS_NODE } from './packages.mjs';

if (NEEDS_NODE || !isInstalled()) {
  console.error('error: packages are missing or outdated. Run: npm run setup');
  process.exit(1);
}
