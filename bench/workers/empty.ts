/** A worker that does nothing: the cost of a process of workerd and of its HTTP server. */
export default { fetch: () => new Response('[]') };
