/** Stubs of the bindings, which measure the store without the platform. */

const PET = '{"id":12,"name":"Rex 12","categoryId":12,"status":"sold"}';
const PETS = `[${Array(20).fill(PET).join(',')}]`;
const RECORD = '{"id":"bench","label":"bench","createdAt":"2026-11-20T00:00:00Z"}';

/** The result of a list, and one with the columns of all other statements. */
const PAGE = { results: [{ json: PETS, next_after: '12' }], meta: {} };
const RESULT = { results: [{ json: PET, id: '12', status: 'available' }], meta: {} };

/** All calls succeed, when `answer` resolves. */
export function stubBindings(
  answer: <T>(binding: 'KV' | 'D1', value: T) => Promise<T> = async (_, value) => value,
  isKnown = true,
) {
  const statementOf = (result: object) => {
    const statement = { bind: () => statement, all: () => answer('D1', result) };
    return statement;
  };
  const page = statementOf(PAGE);
  const statement = statementOf(RESULT);
  const limiter = { limit: async () => ({ success: true }) };
  const recordOf = (name: string) => (isKnown && name.startsWith('key:') ? RECORD : null);
  return {
    ENVIRONMENT: 'production',
    BASE_URL: 'https://api.animal-store.example/v1',
    API_KEYS: { get: (name: string) => answer('KV', recordOf(name)) },
    DB: {
      prepare: (sql: string) => (sql.includes('group_concat') ? page : statement),
      batch: (batch: unknown[]) => answer('D1', Array(batch.length).fill(RESULT)),
    },
    RATE_LIMITER: limiter,
    WRITE_RATE_LIMITER: limiter,
  };
}
