// One import gives a user all types of the library's calls: requests and errors, priorities, the memory cache, image sizes.
@_exported public import FetchCache
@_exported public import HTTPCaching
@_exported public import HTTPEngine
@_exported public import ImageProbe
