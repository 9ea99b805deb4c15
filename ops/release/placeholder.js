/** Answers at the address of a new worker until its first release has passed the smoke test. */
const BODY = { code: 'service_unavailable', message: 'The store is not open yet.', status: 503 };
const HEADERS = { 'Retry-After': '60', 'Cache-Control': 'no-store' };

export default {
  fetch: () => Response.json(BODY, { status: 503, headers: HEADERS }),
  scheduled() {},
};
