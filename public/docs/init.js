// The docs page: Swagger UI with the description, sending requests to the page's own origin.

const ADDRESS = '/openapi.json';

// Before anything is shown, so that no key is typed or sent over http. The local store has no https.
const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
if (location.protocol === 'http:' && !isLocal) {
  location.replace(location.href.replace('http:', 'https:'));
  await new Promise(() => {});
}

// A text's pattern names a hundred characters that nobody can see. The description has it.
const description = JSON.parse(await (await fetch(ADDRESS)).text(), (name, value) =>
  name === 'pattern' ? undefined : value,
);

// The key that every local store accepts (README.md). It is public, and no deployed store accepts it.
const localKey = isLocal && 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

/** Replaces a text of the introduction (openapi/about.md), which must have it. */
function replaceText(text, replacement) {
  const replaced = description.info.description.replaceAll(text, replacement);
  if (replaced === description.info.description) throw new Error(`There is no "${text}".`);
  description.info.description = replaced;
}

// The line of curl at the top sends a request to this store.
replaceText(description.servers[0].url, `${location.origin}/v1`);
// Locally it has the key, which no operator has to give.
if (localKey) {
  replaceText('<API_KEY>', localKey);
  replaceText(/press _Authorize_ .*? Open/g, 'open');
  replaceText(/ from the operator: .*/g, ': every local store accepts the one below.');
}

// The page's Content-Security-Policy blocks other origins.
description.servers = [{ url: `${location.origin}/v1`, description: 'This store' }];

// Paper is never dark.
const dark = matchMedia('screen and (prefers-color-scheme: dark)');
const followColorScheme = () =>
  document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();

// The contact link is this page.
delete description.info.contact;

if (localKey)
  description.components.securitySchemes.apiKey.description += `\n\nThe key of every local store: \`${localKey}\``;

// Users paste the whole header, or "Bearer" and the key. Swagger UI adds another "Bearer".
const requestInterceptor = (request) => {
  const { Authorization } = request.headers;
  if (Authorization)
    request.headers.Authorization = Authorization.replace(
      /^Bearer\s+(?:Authorization:\s*)?Bearer\s+/i,
      'Bearer ',
    );
  answer.textContent = '';
  return request;
};

// Screen readers read the status of a response, which appears far from the button.
const answer = document.querySelector('#answer');
const responseInterceptor = (response) => {
  answer.textContent = `Response: ${response.status} ${response.statusText}`;
  return response;
};

// Every number as it was sent.
const keepNumber = (_, value, { source }) =>
  typeof value === 'number' ? JSON.rawJSON(source) : value;
const indented = (body) => {
  try {
    return JSON.stringify(JSON.parse(body, keepNumber), null, 2);
  } catch {
    return body; // It is not JSON, or an older browser lacks `JSON.rawJSON`.
  }
};

// Swagger UI would parse and format JSON bodies itself, which rounds integers beyond 2^53.
const showExactBodies = () => ({
  wrapComponents: {
    responseBody:
      (ResponseBody, { React }) =>
      ({ content, ...props }) =>
        React.createElement(ResponseBody, {
          ...props,
          content: indented(content),
          contentType: 'text/plain',
        }),
  },
});

// A collapsed operation does not show its extensions.
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

// A documented error is one line, which a button unfolds.
const foldErrors = () => ({
  wrapComponents: {
    response:
      (Response, { React }) =>
      (props) => {
        const [isOpen, setOpen] = React.useState(false);
        const response = React.createElement(Response, props);
        const isError = Number(props.code) >= 400;
        if (!isError) return response;
        const toggle = React.createElement(
          'button',
          { type: 'button', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
          `${props.code} ${props.response.get('description').replaceAll('`', '')}`,
        );
        const cell = React.createElement('td', { colSpan: 2 }, toggle);
        const line = React.createElement('tr', { className: 'error-line' }, cell);
        return React.createElement(React.Fragment, null, line, isOpen && response);
      },
  },
});

// Gives an accessible name to the elements of a component that match a selector: WCAG 2.2, 4.1.2.
const named =
  (selector, nameOf) =>
  (Component, { React }) =>
  (props) => {
    const setName = (element) =>
      element?.querySelector(selector)?.setAttribute('aria-label', nameOf(props));
    const component = React.createElement(Component, props);
    return React.createElement('div', { className: 'named', ref: setName }, component);
  };

// Removes names that differ from the visible text, such as "Apply credentials" of "Authorize": WCAG 2.2, 2.5.3.
const namedByVisibleText =
  (Component, { React }) =>
  ({ 'aria-label': _, ...props }) =>
    React.createElement(Component, props);

// A password field: nobody reads the key from the screen, and the browser does not offer it again.
const hideKey = () => ({
  wrapComponents: {
    Input:
      (Input, { React }) =>
      (props) => {
        const isKey = props.id === 'auth-bearer-value';
        const hidden = isKey && { type: 'password', autoComplete: 'off' };
        return React.createElement(Input, { ...props, ...hidden });
      },
    // The line of curl, which people paste into chats, has a placeholder in place of the key.
    curl:
      (Curl, { React }) =>
      ({ request, ...props }) => {
        const header = ['headers', 'Authorization'];
        const shown = request.hasIn(header) ? request.setIn(header, 'Bearer <API_KEY>') : request;
        return React.createElement(Curl, { ...props, request: shown });
      },
  },
});

const nameControls = () => ({
  wrapComponents: {
    Servers: named('select', () => 'Server'),
    ExamplesSelect: named('select', () => 'Example'),
    JsonSchema_string: named('input, select', ({ description }) => description),
    RequestBodyEditor: named('textarea', () => 'Request body'),
    Button: namedByVisibleText,
    Input: namedByVisibleText,
    // The link of an operation is inside the button that unfolds it, and a button must not contain a link.
    DeepLink:
      (DeepLink, { React }) =>
      (props) =>
        props.path.includes('/')
          ? React.createElement('span', null, props.text)
          : React.createElement(DeepLink, props),
  },
});

// The dialog that asks for the key. A modal dialog of the browser holds the focus, which its end gives back.
const Modal =
  (AuthorizationPopup, { React }) =>
  (props) => {
    const dialog = React.useRef();
    React.useEffect(() => {
      const opener = document.activeElement;
      dialog.current.querySelector('.close-modal').setAttribute('aria-label', 'Close');
      dialog.current.showModal();
      dialog.current.querySelector('input')?.focus();
      return () => opener.focus();
    }, []);
    const close = (event) => {
      event.preventDefault();
      props.authActions.showDefinitions(false);
    };
    const attributes = { ref: dialog, onCancel: close, 'aria-label': 'Authorization' };
    const popup = React.createElement(AuthorizationPopup, props);
    return React.createElement('dialog', attributes, popup);
  };

// A button that is disabled while its request runs would lose the focus.
const Execute =
  (Button, { React }) =>
  ({ disabled, ...props }) => {
    const onClick = (event) => disabled && event.stopPropagation();
    const button = React.createElement(Button, props);
    return React.createElement('div', { className: 'named', onClickCapture: onClick }, button);
  };

const holdFocus = () => ({ wrapComponents: { authorizationPopup: Modal, execute: Execute } });

// Swagger UI's headings leave out level 2, and some are lower than the ones above them demand.
const levelOf = (heading) => {
  if (heading.closest('.models') === heading.parentElement) return 2;
  if (heading.matches('.auth-container h6')) return 4;
  const level = Number(heading.tagName[1]);
  // The headers of a response are below "Responses".
  return heading.matches('.headers__title') ? level : level - 1;
};
const page = document.querySelector('#docs');
new MutationObserver(() => {
  for (const heading of page.querySelectorAll(':is(h2, h3, h4, h5, h6):not([aria-level])'))
    heading.setAttribute('aria-level', levelOf(heading));
}).observe(page, { childList: true, subtree: true });

// A blocked style sheet has no rules, or none that can be read.
const isStyled = () => {
  try {
    return [...document.styleSheets].every(({ cssRules }) => cssRules.length > 0);
  } catch {
    return false;
  }
};

const finishPage = () => {
  if (localKey) ui.preauthorizeApiKey('apiKey', localKey);
  if (isStyled()) document.querySelector('#incomplete').remove();
};

const ui = window.SwaggerUIBundle({
  spec: description,
  domNode: page,
  requestInterceptor,
  responseInterceptor,
  plugins: [showExactBodies, showStability, foldErrors, nameControls, hideKey, holdFocus],
  onComplete: finishPage,
  // The list of schemas is folded.
  defaultModelsExpandDepth: 0,
  deepLinking: true,
  displayRequestDuration: true,
  showExtensions: true,
  tryItOutEnabled: true,
  // Swagger's online validator has another origin.
  validatorUrl: null,
});
