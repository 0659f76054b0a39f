using System.CommandLine;
using Billing.Cli.Background;
using Billing.LocalStack.Processes;
using Billing.Messaging.Kafka;

namespace Billing.Cli.Commands;

/// <summary>Which brokers a command works on, and how it gets in.</summary>
internal static class KafkaFlags
{
    public static Option<string?> Brokers()
    {
        var kafka = new Option<string?>("--kafka")
        {
            Description = "Brokers; by default those of appsettings.json in this folder or of the environment (Billing__Kafka__BootstrapServers), else those of the stack in the background",
            HelpName = "HOST:PORT",
            Recursive = true,
        };
        kafka.Validators.Add(result =>
        {
            if (result.Tokens.Count > 0 && !result.Tokens[0].Value.Split(',').All(KafkaOptions.IsAddress))
            {
                result.AddError($"--kafka must be HOST:PORT[,HOST:PORT]; it is '{result.Tokens[0].Value}'.");
            }
        });
        return kafka;
    }

    /// <summary>The brokers, with whatever else the settings say of Kafka, such as credentials: as a service reads them,
    /// appsettings.json in the working folder, then the environment.</summary>
    public static async Task<KafkaOptions> ReadAsync(string? brokers)
    {
        var options = new KafkaOptions();
        new ConfigurationBuilder().SetBasePath(Environment.CurrentDirectory).AddJsonFile("appsettings.json", optional: true)
            .AddEnvironmentVariables().Build().GetSection(KafkaOptions.Section).Bind(options);
        if (brokers is not null)
        {
            options.BootstrapServers = brokers;
        }
        else if (options.BootstrapServers.Length == 0)
        {
            var stack = await StackState.ReadAsync() ?? throw new StackException("--kafka is missing, and no stack is up.");
            options.BootstrapServers = stack.BootstrapServers
                ?? throw new StackException("The stack that is up has no Kafka: on the embedded transport there is no dead-letter topic.");
        }
        return options;
    }
}
