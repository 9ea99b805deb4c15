// The docs page: Swagger UI over the description, against the page's own origin.

const ADDRESS = '/v1/openapi.json';

// Swagger UI fills in the example of a parameter and sends it. With the same Idempotency-Key each time, a
// second animal would never be added.
const withoutExample = (_, value) => {
  if (!value?.in || !value.schema) return value;
  const { example, examples, ...parameter } = value;
  return parameter;
};

const description = JSON.parse(await (await fetch(ADDRESS)).text(), withoutExample);

// Another origin than the page's own is blocked by its Content-Security-Policy.
const server = (path) => [{ url: `${location.origin}${path}`, description: 'This store' }];
description.servers = server('/v1');
description.paths['/health'].servers = server('');

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () =>
  document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();

// The contact is this page. It links to the description instead.
delete description.info.contact;
description.externalDocs = { url: ADDRESS, description: `OpenAPI description: ${ADDRESS}` };

// People paste the whole header, or "Bearer" and the key. Swagger UI adds "Bearer" to whatever it is given.
const requestInterceptor = (request) => {
  const { Authorization } = request.headers;
  if (Authorization)
    request.headers.Authorization = Authorization.replace(
      /^Bearer\s+(?:Authorization:\s*)?Bearer\s+/i,
      'Bearer ',
    );
  return request;
};

// Swagger UI would read a body as JSON and write it anew, which rounds integers past 2^53.
const showBodiesAsTheyAre = () => ({
  wrapComponents: {
    responseBody:
      (ResponseBody, { React }) =>
      (props) =>
        React.createElement(ResponseBody, { ...props, contentType: 'text/plain' }),
  },
});

// Folded, an operation would not show its extensions.
const showStability = () => ({
  wrapComponents: {
    OperationSummaryPath:
      (OperationSummaryPath, { React }) =>
      (props) => {
        const { path, method } = props.operationProps.toJS();
        const stability = description.paths[path][method]['x-stability'];
        return React.createElement(
          React.Fragment,
          null,
          React.createElement(OperationSummaryPath, props),
          stability && React.createElement('span', { className: 'stability' }, stability),
        );
      },
  },
});

window.SwaggerUIBundle({
  spec: description,
  domNode: document.querySelector('#docs'),
  requestInterceptor,
  plugins: [showBodiesAsTheyAre, showStability],
  deepLinking: true,
  displayRequestDuration: true,
  showExtensions: true,
  tryItOutEnabled: true,
  // Swagger's online validator is another origin, too.
  validatorUrl: null,
});
