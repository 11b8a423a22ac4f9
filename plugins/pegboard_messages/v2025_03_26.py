"""The messages of MCP revision 2025-03-26 as typed dictionaries, with the names of the official schema.

Type checkers read them. A dictionary literal is checked against its type:

    result: CallToolResult = {"content": []}

A type names the members that the schema names. A message with further members, such as an own key of `_meta`, requires
`typing.cast`. Written by `python -m tools.message_types`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Annotations(TypedDict):
    """The definition `Annotations`."""

    audience: NotRequired[list[Role]]
    priority: NotRequired[float]


class AudioContent(TypedDict):
    """The definition `AudioContent`."""

    annotations: NotRequired[Annotations]
    data: str
    mimeType: str
    type: Literal["audio"]


class BlobResourceContents(TypedDict):
    """The definition `BlobResourceContents`."""

    blob: str
    mimeType: NotRequired[str]
    uri: str


class CallToolRequestParams(TypedDict):
    """The member `params` of `CallToolRequest`."""

    arguments: NotRequired[dict[str, Any]]
    name: str


class CallToolRequest(TypedDict):
    """The request `tools/call`."""

    method: Literal["tools/call"]
    params: CallToolRequestParams


class CallToolResult(TypedDict):
    """The result of `tools/call`."""

    _meta: NotRequired[dict[str, Any]]
    content: list[TextContent | ImageContent | AudioContent | EmbeddedResource]
    isError: NotRequired[bool]


class CancelledNotificationParams(TypedDict):
    """The member `params` of `CancelledNotification`."""

    reason: NotRequired[str]
    requestId: RequestId


class CancelledNotification(TypedDict):
    """The notification `notifications/cancelled`."""

    method: Literal["notifications/cancelled"]
    params: CancelledNotificationParams


class ClientCapabilitiesRoots(TypedDict):
    """The member `roots` of `ClientCapabilities`."""

    listChanged: NotRequired[bool]


class ClientCapabilities(TypedDict):
    """The definition `ClientCapabilities`."""

    experimental: NotRequired[dict[str, dict[str, Any]]]
    roots: NotRequired[ClientCapabilitiesRoots]
    sampling: NotRequired[dict[str, Any]]


class CompleteRequestParamsArgument(TypedDict):
    """The member `argument` of `CompleteRequestParams`."""

    name: str
    value: str


class CompleteRequestParams(TypedDict):
    """The member `params` of `CompleteRequest`."""

    argument: CompleteRequestParamsArgument
    ref: PromptReference | ResourceReference


class CompleteRequest(TypedDict):
    """The request `completion/complete`."""

    method: Literal["completion/complete"]
    params: CompleteRequestParams


class CompleteResultCompletion(TypedDict):
    """The member `completion` of `CompleteResult`."""

    hasMore: NotRequired[bool]
    total: NotRequired[int]
    values: list[str]


class CompleteResult(TypedDict):
    """The result of `completion/complete`."""

    _meta: NotRequired[dict[str, Any]]
    completion: CompleteResultCompletion


class CreateMessageRequestParams(TypedDict):
    """The member `params` of `CreateMessageRequest`."""

    includeContext: NotRequired[Literal["allServers", "none", "thisServer"]]
    maxTokens: int
    messages: list[SamplingMessage]
    metadata: NotRequired[dict[str, Any]]
    modelPreferences: NotRequired[ModelPreferences]
    stopSequences: NotRequired[list[str]]
    systemPrompt: NotRequired[str]
    temperature: NotRequired[float]


class CreateMessageRequest(TypedDict):
    """The request `sampling/createMessage`."""

    method: Literal["sampling/createMessage"]
    params: CreateMessageRequestParams


class CreateMessageResult(TypedDict):
    """The result of `sampling/createMessage`."""

    _meta: NotRequired[dict[str, Any]]
    content: TextContent | ImageContent | AudioContent
    model: str
    role: Role
    stopReason: NotRequired[str]


class EmbeddedResource(TypedDict):
    """The definition `EmbeddedResource`."""

    annotations: NotRequired[Annotations]
    resource: TextResourceContents | BlobResourceContents
    type: Literal["resource"]


class GetPromptRequestParams(TypedDict):
    """The member `params` of `GetPromptRequest`."""

    arguments: NotRequired[dict[str, str]]
    name: str


class GetPromptRequest(TypedDict):
    """The request `prompts/get`."""

    method: Literal["prompts/get"]
    params: GetPromptRequestParams


class GetPromptResult(TypedDict):
    """The result of `prompts/get`."""

    _meta: NotRequired[dict[str, Any]]
    description: NotRequired[str]
    messages: list[PromptMessage]


class ImageContent(TypedDict):
    """The definition `ImageContent`."""

    annotations: NotRequired[Annotations]
    data: str
    mimeType: str
    type: Literal["image"]


class Implementation(TypedDict):
    """The definition `Implementation`."""

    name: str
    version: str


class InitializeRequestParams(TypedDict):
    """The member `params` of `InitializeRequest`."""

    capabilities: ClientCapabilities
    clientInfo: Implementation
    protocolVersion: str


class InitializeRequest(TypedDict):
    """The request `initialize`."""

    method: Literal["initialize"]
    params: InitializeRequestParams


class InitializeResult(TypedDict):
    """The result of `initialize`."""

    _meta: NotRequired[dict[str, Any]]
    capabilities: ServerCapabilities
    instructions: NotRequired[str]
    protocolVersion: str
    serverInfo: Implementation


class InitializedNotification(TypedDict):
    """The notification `notifications/initialized`."""

    method: Literal["notifications/initialized"]
    params: NotRequired[dict[str, Any]]


class JSONRPCErrorError(TypedDict):
    """The member `error` of `JSONRPCError`."""

    code: int
    data: NotRequired[Any]
    message: str


class JSONRPCError(TypedDict):
    """The definition `JSONRPCError`."""

    error: JSONRPCErrorError
    id: RequestId
    jsonrpc: Literal["2.0"]


class JSONRPCNotification(TypedDict):
    """The definition `JSONRPCNotification`."""

    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[dict[str, Any]]


class JSONRPCRequest(TypedDict):
    """The definition `JSONRPCRequest`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    method: str
    params: NotRequired[dict[str, Any]]


class JSONRPCResponse(TypedDict):
    """The definition `JSONRPCResponse`."""

    id: RequestId
    jsonrpc: Literal["2.0"]
    result: Result


class ListPromptsRequestParams(TypedDict):
    """The member `params` of `ListPromptsRequest`."""

    cursor: NotRequired[str]


class ListPromptsRequest(TypedDict):
    """The request `prompts/list`."""

    method: Literal["prompts/list"]
    params: NotRequired[ListPromptsRequestParams]


class ListPromptsResult(TypedDict):
    """The result of `prompts/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    prompts: list[Prompt]


class ListResourceTemplatesRequestParams(TypedDict):
    """The member `params` of `ListResourceTemplatesRequest`."""

    cursor: NotRequired[str]


class ListResourceTemplatesRequest(TypedDict):
    """The request `resources/templates/list`."""

    method: Literal["resources/templates/list"]
    params: NotRequired[ListResourceTemplatesRequestParams]


class ListResourceTemplatesResult(TypedDict):
    """The result of `resources/templates/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    resourceTemplates: list[ResourceTemplate]


class ListResourcesRequestParams(TypedDict):
    """The member `params` of `ListResourcesRequest`."""

    cursor: NotRequired[str]


class ListResourcesRequest(TypedDict):
    """The request `resources/list`."""

    method: Literal["resources/list"]
    params: NotRequired[ListResourcesRequestParams]


class ListResourcesResult(TypedDict):
    """The result of `resources/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    resources: list[Resource]


class ListRootsRequest(TypedDict):
    """The request `roots/list`."""

    method: Literal["roots/list"]
    params: NotRequired[dict[str, Any]]


class ListRootsResult(TypedDict):
    """The result of `roots/list`."""

    _meta: NotRequired[dict[str, Any]]
    roots: list[Root]


class ListToolsRequestParams(TypedDict):
    """The member `params` of `ListToolsRequest`."""

    cursor: NotRequired[str]


class ListToolsRequest(TypedDict):
    """The request `tools/list`."""

    method: Literal["tools/list"]
    params: NotRequired[ListToolsRequestParams]


class ListToolsResult(TypedDict):
    """The result of `tools/list`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]
    tools: list[Tool]


class LoggingMessageNotificationParams(TypedDict):
    """The member `params` of `LoggingMessageNotification`."""

    data: Any
    level: LoggingLevel
    logger: NotRequired[str]


class LoggingMessageNotification(TypedDict):
    """The notification `notifications/message`."""

    method: Literal["notifications/message"]
    params: LoggingMessageNotificationParams


class ModelHint(TypedDict):
    """The definition `ModelHint`."""

    name: NotRequired[str]


class ModelPreferences(TypedDict):
    """The definition `ModelPreferences`."""

    costPriority: NotRequired[float]
    hints: NotRequired[list[ModelHint]]
    intelligencePriority: NotRequired[float]
    speedPriority: NotRequired[float]


class Notification(TypedDict):
    """The definition `Notification`."""

    method: str
    params: NotRequired[dict[str, Any]]


class PaginatedRequestParams(TypedDict):
    """The member `params` of `PaginatedRequest`."""

    cursor: NotRequired[str]


class PaginatedRequest(TypedDict):
    """The definition `PaginatedRequest`."""

    method: str
    params: NotRequired[PaginatedRequestParams]


class PaginatedResult(TypedDict):
    """The definition `PaginatedResult`."""

    _meta: NotRequired[dict[str, Any]]
    nextCursor: NotRequired[str]


class PingRequest(TypedDict):
    """The request `ping`."""

    method: Literal["ping"]
    params: NotRequired[dict[str, Any]]


class ProgressNotificationParams(TypedDict):
    """The member `params` of `ProgressNotification`."""

    message: NotRequired[str]
    progress: float
    progressToken: ProgressToken
    total: NotRequired[float]


class ProgressNotification(TypedDict):
    """The notification `notifications/progress`."""

    method: Literal["notifications/progress"]
    params: ProgressNotificationParams


class Prompt(TypedDict):
    """The definition `Prompt`."""

    arguments: NotRequired[list[PromptArgument]]
    description: NotRequired[str]
    name: str


class PromptArgument(TypedDict):
    """The definition `PromptArgument`."""

    description: NotRequired[str]
    name: str
    required: NotRequired[bool]


class PromptListChangedNotification(TypedDict):
    """The notification `notifications/prompts/list_changed`."""

    method: Literal["notifications/prompts/list_changed"]
    params: NotRequired[dict[str, Any]]


class PromptMessage(TypedDict):
    """The definition `PromptMessage`."""

    content: TextContent | ImageContent | AudioContent | EmbeddedResource
    role: Role


class PromptReference(TypedDict):
    """The definition `PromptReference`."""

    name: str
    type: Literal["ref/prompt"]


class ReadResourceRequestParams(TypedDict):
    """The member `params` of `ReadResourceRequest`."""

    uri: str


class ReadResourceRequest(TypedDict):
    """The request `resources/read`."""

    method: Literal["resources/read"]
    params: ReadResourceRequestParams


class ReadResourceResult(TypedDict):
    """The result of `resources/read`."""

    _meta: NotRequired[dict[str, Any]]
    contents: list[TextResourceContents | BlobResourceContents]


class Request(TypedDict):
    """The definition `Request`."""

    method: str
    params: NotRequired[dict[str, Any]]


class Resource(TypedDict):
    """The definition `Resource`."""

    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    mimeType: NotRequired[str]
    name: str
    size: NotRequired[int]
    uri: str


class ResourceContents(TypedDict):
    """The definition `ResourceContents`."""

    mimeType: NotRequired[str]
    uri: str


class ResourceListChangedNotification(TypedDict):
    """The notification `notifications/resources/list_changed`."""

    method: Literal["notifications/resources/list_changed"]
    params: NotRequired[dict[str, Any]]


class ResourceReference(TypedDict):
    """The definition `ResourceReference`."""

    type: Literal["ref/resource"]
    uri: str


class ResourceTemplate(TypedDict):
    """The definition `ResourceTemplate`."""

    annotations: NotRequired[Annotations]
    description: NotRequired[str]
    mimeType: NotRequired[str]
    name: str
    uriTemplate: str


class ResourceUpdatedNotificationParams(TypedDict):
    """The member `params` of `ResourceUpdatedNotification`."""

    uri: str


class ResourceUpdatedNotification(TypedDict):
    """The notification `notifications/resources/updated`."""

    method: Literal["notifications/resources/updated"]
    params: ResourceUpdatedNotificationParams


class Result(TypedDict):
    """The definition `Result`."""

    _meta: NotRequired[dict[str, Any]]


class Root(TypedDict):
    """The definition `Root`."""

    name: NotRequired[str]
    uri: str


class RootsListChangedNotification(TypedDict):
    """The notification `notifications/roots/list_changed`."""

    method: Literal["notifications/roots/list_changed"]
    params: NotRequired[dict[str, Any]]


class SamplingMessage(TypedDict):
    """The definition `SamplingMessage`."""

    content: TextContent | ImageContent | AudioContent
    role: Role


class ServerCapabilitiesPrompts(TypedDict):
    """The member `prompts` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]


class ServerCapabilitiesResources(TypedDict):
    """The member `resources` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]
    subscribe: NotRequired[bool]


class ServerCapabilitiesTools(TypedDict):
    """The member `tools` of `ServerCapabilities`."""

    listChanged: NotRequired[bool]


class ServerCapabilities(TypedDict):
    """The definition `ServerCapabilities`."""

    completions: NotRequired[dict[str, Any]]
    experimental: NotRequired[dict[str, dict[str, Any]]]
    logging: NotRequired[dict[str, Any]]
    prompts: NotRequired[ServerCapabilitiesPrompts]
    resources: NotRequired[ServerCapabilitiesResources]
    tools: NotRequired[ServerCapabilitiesTools]


class SetLevelRequestParams(TypedDict):
    """The member `params` of `SetLevelRequest`."""

    level: LoggingLevel


class SetLevelRequest(TypedDict):
    """The request `logging/setLevel`."""

    method: Literal["logging/setLevel"]
    params: SetLevelRequestParams


class SubscribeRequestParams(TypedDict):
    """The member `params` of `SubscribeRequest`."""

    uri: str


class SubscribeRequest(TypedDict):
    """The request `resources/subscribe`."""

    method: Literal["resources/subscribe"]
    params: SubscribeRequestParams


class TextContent(TypedDict):
    """The definition `TextContent`."""

    annotations: NotRequired[Annotations]
    text: str
    type: Literal["text"]


class TextResourceContents(TypedDict):
    """The definition `TextResourceContents`."""

    mimeType: NotRequired[str]
    text: str
    uri: str


class Tool(TypedDict):
    """The definition `Tool`."""

    annotations: NotRequired[ToolAnnotations]
    description: NotRequired[str]
    inputSchema: dict[str, Any]
    name: str


class ToolAnnotations(TypedDict):
    """The definition `ToolAnnotations`."""

    destructiveHint: NotRequired[bool]
    idempotentHint: NotRequired[bool]
    openWorldHint: NotRequired[bool]
    readOnlyHint: NotRequired[bool]
    title: NotRequired[str]


class ToolListChangedNotification(TypedDict):
    """The notification `notifications/tools/list_changed`."""

    method: Literal["notifications/tools/list_changed"]
    params: NotRequired[dict[str, Any]]


class UnsubscribeRequestParams(TypedDict):
    """The member `params` of `UnsubscribeRequest`."""

    uri: str


class UnsubscribeRequest(TypedDict):
    """The request `resources/unsubscribe`."""

    method: Literal["resources/unsubscribe"]
    params: UnsubscribeRequestParams


ClientNotification: TypeAlias = (
    CancelledNotification | InitializedNotification | ProgressNotification | RootsListChangedNotification
)


ClientRequest: TypeAlias = (
    InitializeRequest
    | PingRequest
    | ListResourcesRequest
    | ListResourceTemplatesRequest
    | ReadResourceRequest
    | SubscribeRequest
    | UnsubscribeRequest
    | ListPromptsRequest
    | GetPromptRequest
    | ListToolsRequest
    | CallToolRequest
    | SetLevelRequest
    | CompleteRequest
)


ClientResult: TypeAlias = Result | CreateMessageResult | ListRootsResult


Cursor: TypeAlias = str


EmptyResult: TypeAlias = Result


JSONRPCBatchRequest: TypeAlias = list[JSONRPCRequest | JSONRPCNotification]


JSONRPCBatchResponse: TypeAlias = list[JSONRPCResponse | JSONRPCError]


JSONRPCMessage: TypeAlias = (
    JSONRPCRequest
    | JSONRPCNotification
    | list[JSONRPCRequest | JSONRPCNotification]
    | JSONRPCResponse
    | JSONRPCError
    | list[JSONRPCResponse | JSONRPCError]
)


LoggingLevel: TypeAlias = Literal["alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"]


ProgressToken: TypeAlias = str | int


RequestId: TypeAlias = str | int


Role: TypeAlias = Literal["assistant", "user"]


ServerNotification: TypeAlias = (
    CancelledNotification
    | ProgressNotification
    | ResourceListChangedNotification
    | ResourceUpdatedNotification
    | PromptListChangedNotification
    | ToolListChangedNotification
    | LoggingMessageNotification
)


ServerRequest: TypeAlias = PingRequest | CreateMessageRequest | ListRootsRequest


ServerResult: TypeAlias = (
    Result
    | InitializeResult
    | ListResourcesResult
    | ListResourceTemplatesResult
    | ReadResourceResult
    | ListPromptsResult
    | GetPromptResult
    | ListToolsResult
    | CallToolResult
    | CompleteResult
)
