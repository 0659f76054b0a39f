namespace Grpc.Core;

public abstract class CallCredentials
{
    public static CallCredentials Compose(params CallCredentials[] credentials) => new Composite(credentials);

    public static CallCredentials FromInterceptor(AsyncAuthInterceptor interceptor) => new Intercepted(interceptor);

    public abstract void InternalPopulateConfiguration(CallCredentialsConfiguratorBase configurator, object? state);

    private sealed class Composite : CallCredentials
    {
        private readonly IReadOnlyList<CallCredentials> _credentials;

        public Composite(CallCredentials[] credentials)
        {
            if (credentials.Length < 2)
            {
                throw new ArgumentException(
                    "Composite credentials object can only be created from 2 or more credentials.");
            }

            _credentials = [.. credentials];
        }

        public override void InternalPopulateConfiguration(
            CallCredentialsConfiguratorBase configurator, object? state) =>
            configurator.SetCompositeCredentials(state, _credentials);
    }

    private sealed class Intercepted : CallCredentials
    {
        private readonly AsyncAuthInterceptor _interceptor;

        public Intercepted(AsyncAuthInterceptor interceptor)
        {
            ArgumentNullException.ThrowIfNull(interceptor);
            _interceptor = interceptor;
        }

        public override void InternalPopulateConfiguration(
            CallCredentialsConfiguratorBase configurator, object? state) =>
            configurator.SetAsyncAuthInterceptorCredentials(state, _interceptor);
    }
}

public abstract class CallCredentialsConfiguratorBase
{
    public abstract void SetCompositeCredentials(object? state, IReadOnlyList<CallCredentials> credentials);

    public abstract void SetAsyncAuthInterceptorCredentials(object? state, AsyncAuthInterceptor interceptor);
}
