namespace Grpc.Core;

public delegate Task AsyncAuthInterceptor(AuthInterceptorContext context, Metadata metadata);

public class AuthInterceptorContext
{
    public AuthInterceptorContext(string serviceUrl, string methodName)
        : this(serviceUrl, methodName, CancellationToken.None)
    {
    }

    public AuthInterceptorContext(string serviceUrl, string methodName, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(serviceUrl);
        ArgumentNullException.ThrowIfNull(methodName);
        ServiceUrl = serviceUrl;
        MethodName = methodName;
        CancellationToken = cancellationToken;
    }

    public string ServiceUrl { get; }

    public string MethodName { get; }

    public CancellationToken CancellationToken { get; }
}
