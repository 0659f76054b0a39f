using System.Diagnostics;
using Billing.Messaging;
using Billing.Messaging.Requests;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

/// <summary>Injects an exception into a service of the platform without changing the service. The runtime calls this
/// class before the program's entry point if <c>DOTNET_STARTUP_HOOKS</c> names this assembly, and every host announces
/// through a diagnostic event that it is being built. The command handler then throws for commands of accounts whose
/// ids begin with <see cref="PoisonAccounts"/>, in the consumer's loop, where no exception is expected.</summary>
#pragma warning disable CA1050 // The runtime looks for this type without a namespace.
internal static class StartupHook
#pragma warning restore CA1050
{
    public const string PoisonAccounts = "planted-exception-";

    public static void Initialize() => DiagnosticListener.AllListeners.Subscribe(new Listeners());

    private sealed class Listeners : IObserver<DiagnosticListener>
    {
        public void OnNext(DiagnosticListener value)
        {
            if (value.Name == "Microsoft.Extensions.Hosting")
            {
                value.Subscribe(new Hosts());
            }
        }

        public void OnCompleted()
        {
        }

        public void OnError(Exception error)
        {
        }
    }

    private sealed class Hosts : IObserver<KeyValuePair<string, object?>>
    {
        public void OnNext(KeyValuePair<string, object?> value)
        {
            if (value.Key == "HostBuilding" && value.Value is IHostBuilder builder)
            {
                builder.ConfigureServices(ReplaceHandler);
            }
        }

        public void OnCompleted()
        {
        }

        public void OnError(Exception error)
        {
        }

        private static void ReplaceHandler(IServiceCollection services)
        {
            var original = services.Last(service => service.ServiceType == typeof(ICommandHandler));
            services.AddSingleton<ICommandHandler>(
                provider => new Throwing((ICommandHandler)original.ImplementationFactory!(provider)));
        }
    }

    private sealed class Throwing(ICommandHandler original) : ICommandHandler
    {
        public int InFlight => original.InFlight;

        public void Accept(IReadOnlyList<Delivery> deliveries)
        {
            if (deliveries.Any(delivery =>
                CommandRoute.Of(delivery.Command).AccountId.StartsWith(PoisonAccounts, StringComparison.Ordinal)))
            {
                throw new InvalidCastException("planted");
            }
            original.Accept(deliveries);
        }
    }
}
